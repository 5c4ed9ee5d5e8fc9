// SPDX-License-Identifier: LGPL-2.1-or-later
#include "output.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static pid_t pager;

bool output_colour(void) {
        const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
        return isatty(STDOUT_FILENO) && !(no_color && no_color[0]) && term && strcmp(term, "dumb") != 0;
}

/* In the child. */
static _Noreturn void run_pager(const char *command, int input) {
        dup2(input, STDIN_FILENO);
        const char *less = getenv("SYSTEMD_LESS");
        setenv("LESS", less ? less : "FRSXMK", true);
        setenv("LESSSECURE", "1", true); /* no shell out of a pager that may run as root */
        if (command)
                execl("/bin/sh", "sh", "-c", command, NULL);
        else
                execlp("less", "less", NULL);
        /* no pager on this host: as if there were none */
        char buffer[4096];
        ssize_t n;
        while ((n = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0)
                if (write(STDOUT_FILENO, buffer, (size_t) n) != n)
                        break;
        _exit(0);
}

void output_page(const struct options *options) {
        const char *command = getenv("SYSTEMD_PAGER");
        if (!command)
                command = getenv("PAGER");
        if (!options->pager || !isatty(STDOUT_FILENO) || (command && (!command[0] || strcmp(command, "cat") == 0)))
                return;
        int pipe_fds[2];
        if (pipe2(pipe_fds, O_CLOEXEC) < 0)
                return;
        fflush(NULL);
        pager = fork();
        if (pager == 0) {
                close(pipe_fds[1]); /* or it would never see the end */
                run_pager(command, pipe_fds[0]);
        }
        if (pager > 0) {
                signal(SIGINT, SIG_IGN);  /* it is the pager that is left */
                signal(SIGPIPE, SIG_IGN); /* by q, which is no error */
                dup2(pipe_fds[1], STDOUT_FILENO);
        }
        close(pipe_fds[0]);
        close(pipe_fds[1]);
}

void output_json(const struct options *options, json_object *object) {
        int flags = options->json == JSON_PRETTY ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED
                                                 : JSON_C_TO_STRING_PLAIN;
        puts(json_object_to_json_string_ext(object, flags | JSON_C_TO_STRING_NOSLASHESCAPE));
}

int output_end(void) {
        int r = ferror(stdout) || fflush(stdout) == EOF ? STATUS_FAILED : STATUS_GOOD;
        if (r != STATUS_GOOD && !pager)
                complain("cannot write to standard output: %s; is the disk full?", strerror(errno));
        if (!pager)
                return r;
        close(STDOUT_FILENO);
        while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
                ;
        return STATUS_GOOD;
}
