/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The real kernel's tables, tried on a real kernel: what the tests of kernel-check share. */
#include "failure.h"
#include "kernel/kernel.h"
#include <stdbool.h>

/* What this kernel and machine are meant to be. */
enum host {
        HOST_COOKIES, /* core scheduling and SMT */
        HOST_NO_SMT,  /* core scheduling, no SMT */
        HOST_NO_CORE, /* a kernel without core scheduling */
};
extern enum host host;
extern struct kernel kernel; /* opened by main() */

/* Both end the test when they fail. */
#define CHECK(what)                                                                                                    \
        do {                                                                                                           \
                if (!(what)) {                                                                                         \
                        check_failed(__FILE__, __LINE__, "%s", #what);                                                 \
                        return;                                                                                        \
                }                                                                                                      \
        } while (0)
#define CHECK_IS(what, wanted)                                                                                         \
        do {                                                                                                           \
                long long _is = (long long) (what), _wanted = (long long) (wanted);                                    \
                if (_is != _wanted) {                                                                                  \
                        check_failed(__FILE__, __LINE__, "%s is %lld, not %lld", #what, _is, _wanted);                 \
                        return;                                                                                        \
                }                                                                                                      \
        } while (0)
void check_failed(const char *file, int line, const char *format, ...) _printf_(3, 4);
bool check_has_failed(void);

/* Runs a test, prints how it ended and ends all processes that it started. */
void run_test(const char *name, void (*test)(void));

/* ---- processes, ended with the test ---- */

/* A process that runs f, and ends when f returns or this process ends. */
pid_t start(void (*f)(void *), void *userdata);
/* A process of so many threads that sleep; all are there when it returns. */
pid_t start_threads(unsigned n);
pid_t start_sleeping(void);
pid_t start_busy(void);
/* Ends a process and waits for it; the status of waitpid. */
int finish(pid_t pid);
/* Runs f in a process of its own, as a test of this test: what it finds counts here. */
void in_child(void (*f)(void));

/* ---- cgroups: relative to one made for the test program ---- */

#define BASE "/kernel-check"
/* The real path of a cgroup, valid until the next but three calls. */
const char *real_path(const char *cgroup);
int make(const char *cgroup);
int remove_cgroup(const char *cgroup);
int put_in(const char *cgroup, pid_t pid);
int write_to(const char *cgroup, const char *file, const char *text);
/* Waits up to some seconds until f says yes. */
bool soon(bool (*f)(void *), void *userdata);

/* ---- looking ---- */

/* Calls f for each thread of a process; ends with its first result that is not 0. */
int each_thread(pid_t pid, int (*f)(pid_t tid, void *userdata), void *userdata);
/* By prctl here, not by the tables; UINT64_MAX on error. */
uint64_t cookie_of(pid_t tid);
/* Do all threads of a process carry this cookie? */
bool all_carry(pid_t pid, uint64_t cookie);
/* How many threads of this program carry any cookie. */
unsigned own_carriers(void);
usec_t now(void);

/* ---- delivering ---- */

#define UNTOUCHED 77 /* the error of a target that nothing was done to */
/* To one target: the outcome of the job, or else of the target. cookie, which may be NULL, goes in and out. */
int deliver(enum delivery_kind kind, pid_t source, uint64_t *cookie, bool by_thread, pid_t target);

void test_cookies(void);
void test_cgroups(void);
void test_tasks(void);
void test_smt(void);
void test_events(void);
