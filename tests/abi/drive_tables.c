// Drives every table of the net library through whole lives, in one process, over real RDMA
// devices.
//
//   drive_tables [--library PATH] [--versions 8,9,10,11,12] [--from DEVICE] [--to DEVICE]
//                [--lives N] [--deadline SECONDS] [--leave open|idle|late] [--verbose]
//
// Without --from and --to: the first device with itself; two rails need not reach each other.
// --leave ends the process in the first life, without cleaning up, as scripts do: with a connection
// open; with everything closed but the library loaded; or closed as late as a static object of the
// application would do it, when the library's own static objects are gone.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "any_table.h"
#include "drive_steps.h"
#include "process_facts.h"
#include "test_log.h"

typedef struct {
  char library[PATH_MAX + 64];
  bool versions[kNewestVersion + 1];
  int from;
  int to;
  int lives;
  const char* leave;  // NULL: clean up
} Options;

enum { kArenaBytes = 6 << 20 };

static bool run_steps(const Step* steps, int count, Link* link) {
  for (int i = 0; i < count; ++i) {
    const double start = now_s();
    if (!steps[i].run(link)) {
      printf("v%d FAILED   %s; last warning: %s\n", link->net->version, steps[i].name,
             test_log_last_warning());
      return false;
    }
    printf("v%d ok %7.1f ms   %s\n", link->net->version, 1e3 * (now_s() - start), steps[i].name);
    fflush(stdout);
  }
  return true;
}

static bool check_properties(const AnyTable* net, int count) {
  for (int device = 0; device < count; ++device) {
    NcclNetPropertiesV12 properties;
    memset(&properties, 0xAB, sizeof(properties));
    const NcclResult result = net->getProperties(device, &properties);
    if (result != kNcclSuccess) {
      return failed("v%d getProperties(%d) returned %d", net->version, device, (int)result);
    }
    if (properties.name == NULL || properties.name[0] == '\0' || properties.speed <= 0 ||
        properties.maxRecvs != kMostBuffers || properties.maxComms <= 0 ||
        (properties.ptrSupport & kNcclPointerHost) == 0 ||
        properties.netDeviceType != kNcclNetDeviceHost || properties.vProps.ndevs != 1 ||
        properties.vProps.devs[0] != device || properties.maxP2pBytes == 0 ||
        properties.maxP2pBytes > kNcclNetMaxBytes || properties.maxCollBytes == 0 ||
        properties.maxCollBytes > kNcclNetMaxBytes) {
      return failed("v%d device %d (%s) has properties NCCL refuses or misreads", net->version,
                    device, properties.name == NULL ? "no name" : properties.name);
    }
    printf("v%d device %d is %s, port %d, %d Mbit/s, pci %s\n", net->version, device,
           properties.name, properties.port, properties.speed,
           properties.pciPath == NULL ? "-" : properties.pciPath);
  }
  return true;
}

static void* g_library;
static const AnyTable* g_late_table;  // set: clean up while the process exits
static void* g_late_context;

static void clean_up_late(void) {
  if (g_late_table == NULL) {
    return;
  }
  if (g_late_table->has_contexts && g_late_table->finalize(g_late_context) != kNcclSuccess) {
    _exit(1);
  }
  if (dlclose(g_library) != 0) {
    _exit(1);
  }
  printf("v%d cleaned up during exit\n", g_late_table->version);
}

static void leave(const char* how, Link* link) {
  static AnyTable table;
  const bool open = strcmp(how, "open") == 0;
  if (!open && (!link_deregister(link) || !link_close(link))) {
    exit(1);
  }
  if (strcmp(how, "late") == 0) {
    table = *link->net;
    g_late_table = &table;
    g_late_context = link->context;
  }
  printf("v%d leaving: %s\n", link->net->version, how);
  exit(0);
}

// From init to the last close; what comes after depends on the version.
static bool live(const AnyTable* net, const Options* options) {
  Link link = {.net = net};
  const NcclNetCommConfig config = {kNcclNetUndefined};
  test_log_reset();
  if (net->init(&link.context, &config, test_log) != kNcclSuccess) {
    return failed("v%d init: %s", net->version, test_log_last_warning());
  }
  int count = 0;
  if (net->devices(&count) != kNcclSuccess || count < 1) {
    return failed("v%d has %d devices", net->version, count);
  }
  link.from = options->from;
  link.to = options->to;
  if (!check_properties(net, count) || !link_connect(&link) || !link_register(&link, kArenaBytes) ||
      !run_steps(kDataSteps, kDataStepCount, &link)) {
    return false;
  }
  if (test_log_warnings() != 0) {
    return failed("v%d warned although nothing was wrong: %s", net->version,
                  test_log_last_warning());
  }
  if (options->leave != NULL) {
    leave(options->leave, &link);
  }
  return link_deregister(&link) && link_close(&link) &&
         run_steps(kLifeSteps, kLifeStepCount, &link) &&
         (!net->has_contexts || succeeded(&link, "finalize", net->finalize(link.context)));
}

static bool load_and_live(const Options* options, int version) {
  const ProcessFacts before_load = process_facts();
  void* library = dlopen(options->library, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    return failed("%s", dlerror());
  }
  g_library = library;
  char symbol[32];
  snprintf(symbol, sizeof(symbol), "ncclNetPlugin_v%d", version);
  AnyTable net;
  const void* found = dlsym(library, symbol);
  if (found == NULL || !any_table_read(version, found, &net)) {
    return failed("%s has no %s", options->library, symbol);
  }
  const ProcessFacts before_life = process_facts();
  if (!live(&net, options)) {
    return false;
  }
  if (net.has_contexts && !process_facts_are_back(before_life, "finalize")) {
    return false;
  }
  if (dlclose(library) != 0) {
    return failed("dlclose: %s", dlerror());
  }
  if (dlopen(options->library, RTLD_NOW | RTLD_NOLOAD) != NULL) {
    return failed("the library stayed in memory after dlclose");
  }
  if (!process_facts_are_back(before_load, "dlclose")) {
    return false;
  }
  printf("v%d ok              closed, unloaded, no thread and no descriptor left\n", version);
  return true;
}

// Beside this program in the build tree.
static void default_library(Options* options) {
  char self[PATH_MAX] = {0};
  if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0) {
    snprintf(options->library, sizeof(options->library), "%s/../../lib/libnccl-net-rocelane.so",
             dirname(self));
  }
}

static bool choose_versions(Options* options, char* list) {
  memset(options->versions, 0, sizeof(options->versions));
  for (const char* word = strtok(list, ","); word != NULL; word = strtok(NULL, ",")) {
    const int version = atoi(word);
    if (version < kOldestVersion || version > kNewestVersion) {
      return failed("--versions takes %d to %d, not %s", kOldestVersion, kNewestVersion, word);
    }
    options->versions[version] = true;
  }
  return true;
}

static bool read_options(int argc, char** argv, Options* options) {
  static const struct option kOptions[] = {
      {"library", required_argument, NULL, 'l'},
      {"versions", required_argument, NULL, 'v'},
      {"from", required_argument, NULL, 'f'},
      {"to", required_argument, NULL, 't'},
      {"lives", required_argument, NULL, 'n'},
      {"deadline", required_argument, NULL, 'd'},
      {"leave", required_argument, NULL, 'o'},
      {"verbose", no_argument, NULL, 'V'},
      {NULL, 0, NULL, 0},
  };
  for (int found = 0; (found = getopt_long(argc, argv, "", kOptions, NULL)) != -1;) {
    switch (found) {
      case 'l':
        snprintf(options->library, sizeof(options->library), "%s", optarg);
        break;
      case 'v':
        if (!choose_versions(options, optarg)) {
          return false;
        }
        break;
      case 'f':
        options->from = atoi(optarg);
        break;
      case 't':
        options->to = atoi(optarg);
        break;
      case 'n':
        options->lives = atoi(optarg);
        break;
      case 'd':
        g_deadline_s = atof(optarg);
        break;
      case 'o':
        options->leave = optarg;
        break;
      case 'V':
        test_log_show_everything();
        break;
      default:
        return false;
    }
  }
  return true;
}

int main(int argc, char** argv) {
  // Registered before the library is loaded, so it runs after the library's static objects have
  // gone.
  atexit(clean_up_late);
  Options options = {.lives = 2};
  default_library(&options);
  for (int version = kOldestVersion; version <= kNewestVersion; ++version) {
    options.versions[version] = true;
  }
  if (!read_options(argc, argv, &options)) {
    return 2;
  }
  for (int life = 1; life <= options.lives; ++life) {
    for (int version = kOldestVersion; version <= kNewestVersion; ++version) {
      if (options.versions[version] && !load_and_live(&options, version)) {
        return 1;
      }
    }
    printf("life %d of %d done; the longest connect or accept call took %.1f ms\n", life,
           options.lives, 1e3 * g_longest_set_up_s);
  }
  return 0;
}
