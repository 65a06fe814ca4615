#include "drive_steps.h"

static const Manner kOneByOne = {.window = 1};
static const Manner kDeep = {.window = 8};

static bool every_size(Link* link) {
  static const size_t kSizes[] = {
      0, 1, 7, 8, 127, 128, 4095, 4096, 65537, 1U << 20, (1U << 20) + 13, (3U << 20) + 1};
  for (size_t i = 0; i < sizeof(kSizes) / sizeof(kSizes[0]); ++i) {
    const Group group = even_group(1, kSizes[i]);
    if (!link_exchange(link, &group, 1, kOneByOne)) {
      return false;
    }
  }
  return true;
}

static bool groups_in_another_order(Link* link) {
  for (int n = 1; n <= kMostBuffers; ++n) {
    Group group = even_group(n, 0);
    for (int i = 0; i < n; ++i) {
      group.receive_bytes[i] = (size_t)(700 * i + 128);
      group.send_bytes[i] = (size_t)(700 * i + (i % 3) * 60);
      group.send_order[i] = n - 1 - i;
    }
    if (!link_exchange(link, &group, 1, kOneByOne)) {
      return false;
    }
  }
  return true;
}

static bool empty_groups(Link* link) {
  Group groups[3];
  groups[0] = even_group(8, 0);
  groups[1] = even_group(1, 0);
  groups[2] = even_group(3, 4096);
  groups[2].send_bytes[0] = 0;
  groups[2].send_bytes[2] = 0;
  return link_exchange(link, groups, 3, kDeep);
}

static bool truncated(Link* link) {
  Group groups[3];
  groups[0] = even_group(1, 1000);
  groups[0].send_bytes[0] = 5000;
  groups[1] = even_group(4, 1 << 16);
  groups[1].send_bytes[2] = (1 << 16) + 1;
  groups[2] = even_group(1, 0);
  groups[2].send_bytes[0] = 77;
  return link_exchange(link, groups, 3, kDeep);
}

static bool everything_outstanding(Link* link) {
  Group groups[kNcclNetMaxRequests];
  for (int g = 0; g < kNcclNetMaxRequests; ++g) {
    groups[g] = even_group(1, (size_t)(g * 37));
  }
  return link_exchange(link, groups, kNcclNetMaxRequests, (Manner){.window = kNcclNetMaxRequests});
}

static bool full_groups_outstanding(Link* link) {
  Group groups[kNcclNetMaxRequests];
  for (int g = 0; g < kNcclNetMaxRequests; ++g) {
    groups[g] = even_group(8, 1024);
    groups[g].send_order[0] = 7;
    groups[g].send_order[7] = 0;
  }
  return link_exchange(link, groups, kNcclNetMaxRequests, (Manner){.window = kNcclNetMaxRequests});
}

static bool more_than_allowed(Link* link) {
  Group groups[kMostGroups];
  for (int g = 0; g < kMostGroups; ++g) {
    groups[g] = even_group(1, 256);
  }
  return link_exchange(link, groups, kMostGroups, (Manner){.window = kMostGroups});
}

static bool large_in_flight(Link* link) {
  Group groups[4];
  for (int g = 0; g < 4; ++g) {
    groups[g] = even_group(1, (1U << 20) + (size_t)g);
  }
  return link_exchange(link, groups, 4, kDeep);
}

static bool sizes_not_wanted(Link* link) {
  Group groups[2];
  groups[0] = even_group(1, 300);
  groups[1] = even_group(5, 300);
  return link_exchange(link, groups, 2, (Manner){.window = 2, .no_sizes = true});
}

static bool sender_first(Link* link) {
  const Group group = even_group(1, 2048);
  return link_exchange(link, &group, 1, (Manner){.window = 1, .send_early = true});
}

static bool flushed(Link* link) {
  Group groups[3];
  groups[0] = even_group(1, 4096);
  groups[1] = even_group(3, 4096);
  groups[2] = even_group(1, 0);
  return link_exchange(link, groups, 3, (Manner){.window = 3, .flush = true});
}

// Longer than any ring of slots.
static bool many_messages(Link* link) {
  Group groups[kMostGroups];
  for (int g = 0; g < kMostGroups; ++g) {
    groups[g] = even_group(1 + g % 3, (size_t)(8 * g));
  }
  for (int round = 0; round < 10; ++round) {
    if (!link_exchange(link, groups, kMostGroups, kDeep)) {
      return false;
    }
  }
  return true;
}

const Step kDataSteps[] = {
    {"every size, empty to 3 MiB and odd", every_size},
    {"groups of 1 to 8, sent in another order", groups_in_another_order},
    {"empty messages, alone and in groups", empty_groups},
    {"sends larger than their receive", truncated},
    {"32 receives outstanding", everything_outstanding},
    {"32 groups of 8 outstanding", full_groups_outstanding},
    {"64 receives asked for at once", more_than_allowed},
    {"several large messages in flight", large_in_flight},
    {"test without sizes", sizes_not_wanted},
    {"the sender comes first", sender_first},
    {"flush after receive", flushed},
    {"640 groups over the same connection", many_messages},
};
const int kDataStepCount = (int)(sizeof(kDataSteps) / sizeof(kDataSteps[0]));
