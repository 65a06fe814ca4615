#define _GNU_SOURCE
#include "process_facts.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int count_entries(const char* folder) {
  DIR* directory = opendir(folder);
  if (directory == NULL) {
    return -1;
  }
  int count = 0;
  for (const struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    count += entry->d_name[0] != '.';
  }
  closedir(directory);
  return count;
}

ProcessFacts process_facts(void) {
  return (ProcessFacts){count_entries("/proc/self/task"), count_entries("/proc/self/fd")};
}

static void print_descriptors(void) {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == NULL) {
    return;
  }
  for (const struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    char target[PATH_MAX];
    const ssize_t length = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
    if (length > 0) {
      target[length] = '\0';
      printf("      descriptor %s: %s\n", entry->d_name, target);
    }
  }
  closedir(directory);
}

bool process_facts_are_back(ProcessFacts before, const char* after_what) {
  ProcessFacts now = process_facts();
  for (int attempt = 0;
       attempt < 100 && (now.threads > before.threads || now.descriptors > before.descriptors);
       ++attempt) {
    nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
    now = process_facts();
  }
  if (now.threads <= before.threads && now.descriptors <= before.descriptors) {
    return true;
  }
  printf("FAILED: after %s %d threads and %d descriptors are left; before there were %d and %d\n",
         after_what, now.threads, now.descriptors, before.threads, before.descriptors);
  print_descriptors();
  return false;
}
