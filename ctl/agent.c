// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent.h"
#include "util.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static pid_t agent;

/* In the child. */
static _Noreturn void run_agent(int notify, pid_t parent) {
        char fd[16];
        int kept = dup(notify); /* without O_CLOEXEC */
        snprintf(fd, sizeof(fd), "%i", kept);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() == parent)
                execlp("pkttyagent", "pkttyagent", "--notify-fd", fd, "--fallback", NULL);
        _exit(1);
}

void agent_start(const struct options *options) {
        if (!options->ask_password || options->host || options->machine || geteuid() == 0 || !isatty(STDIN_FILENO))
                return;
        int ready[2];
        pid_t self = getpid();
        if (pipe2(ready, O_CLOEXEC) < 0)
                return;
        agent = fork();
        if (agent == 0)
                run_agent(ready[1], self);
        close(ready[1]);
        /* pkttyagent closes its end once it is registered, or when it ends. */
        struct pollfd end = {.fd = ready[0], .events = POLLIN};
        if (agent > 0)
                while (poll(&end, 1, -1) < 0 && errno == EINTR)
                        ;
        close(ready[0]);
}

void agent_stop(void) {
        if (agent <= 0)
                return;
        kill(agent, SIGTERM);
        while (waitpid(agent, NULL, 0) < 0 && errno == EINTR)
                ;
        agent = 0;
}
