// SPDX-License-Identifier: LGPL-2.1-or-later
/* The daemon's own threads beside the main one: the courier and the holder. What always holds: they run no callbacks,
 * take no signals, and are started by the main thread, whose cookie is 0 and is copied to them. */
#include "real.h"
#include <errno.h>
#include <signal.h>
#include <time.h>

#define STACK_SIZE ((size_t) 128 * 1024) /* they call little; only what is touched takes memory */

int thread_start(const char *name, void *(*run)(void *), void *userdata, pthread_t *ret) {
        pthread_attr_t attributes;
        sigset_t all, before;
        pthread_t thread;
        int r;

        if (pthread_attr_init(&attributes) != 0)
                return -ENOMEM;
        pthread_attr_setstacksize(&attributes, STACK_SIZE);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before); /* which the thread inherits */
        r = pthread_create(&thread, &attributes, run, userdata);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attributes);
        if (r != 0)
                return -ENOMEM; /* EAGAIN: no memory, or no thread left to be had */
        pthread_setname_np(thread, name);
        *ret = thread;
        return 0;
}

void thread_join(pthread_t thread, pid_t tid) {
        pthread_join(thread, NULL);
        /* The C library is told a moment before the kernel has taken the task, and its cookie, away. */
        for (int i = 0; i < 1000 && tgkill(getpid(), tid, 0) == 0; i++)
                nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

void semaphore_wait(sem_t *semaphore) {
        while (sem_wait(semaphore) < 0 && errno == EINTR)
                ;
}
