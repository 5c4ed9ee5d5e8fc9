// SPDX-License-Identifier: LGPL-2.1-or-later
/* Forks, execs and exits of the whole host, by the kernel's proc connector, with libnl-3. What always holds: a loss is
 * told after the queue was emptied, so that whoever then looks at everything misses nothing. */
#include "real.h"
#include <errno.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

/* The kernel's header has names of its own for what kernel.h names better. */
#define proc_event      cn_event
#define PROC_EVENT_FORK CN_EVENT_FORK
#define PROC_EVENT_EXEC CN_EVENT_EXEC
#define PROC_EVENT_EXIT CN_EVENT_EXIT
#define PROC_EVENT_NONE CN_EVENT_NONE
#include <linux/cn_proc.h>
#undef proc_event
#undef PROC_EVENT_FORK
#undef PROC_EVENT_EXEC
#undef PROC_EVENT_EXIT
#undef PROC_EVENT_NONE

/* What may queue while the daemon is busy or does not get a CPU: some 20,000 events, as each is charged with its
 * kernel-side buffers. Kernel memory, taken only while events wait, and more than net.core.rmem_max allows. */
#define QUEUE_BYTES (16 * 1024 * 1024)

/* The kernel acknowledges before send() returns; this is for one that never does (other PID namespace). */
#define ACK_TIMEOUT (1 * USEC_PER_SEC)

struct procevents {
        struct nl_sock *socket; /* NULL: not opened yet */
        bool on;                /* listening */
        uint32_t token;         /* our request's mark in its acknowledgement */
        bool lost;

        /* what the last message was */
        bool is_event, is_ack;
        struct proc_event event;
        uint32_t ack_error;
};

static int nl_to_errno(int error) {
        switch (-error) {
        case NLE_AGAIN:
                return -EAGAIN;
        case NLE_NOMEM:
                return errno == ENOBUFS ? -ENOBUFS : -ENOMEM;
        case NLE_PERM:
        case NLE_NOACCESS:
                return -EPERM;
        case NLE_PROTO_MISMATCH: /* no connector in this kernel */
        case NLE_AF_NOSUPPORT:
                return -EPROTONOSUPPORT;
        default:
                return -EIO;
        }
}

/* ---- receiving ---- */

static int on_message(struct nl_msg *msg, void *userdata) {
        struct procevents *p = userdata;
        const struct sockaddr_nl *from = nlmsg_get_src(msg);
        const struct nlmsghdr *header = nlmsg_hdr(msg);
        struct cn_event event = {0};
        struct cn_msg about;
        size_t length;

        if (from->nl_pid != 0 || nlmsg_datalen(header) < (int) sizeof(about))
                return NL_SKIP;
        memcpy(&about, nlmsg_data(header), sizeof(about));
        length = (size_t) nlmsg_datalen(header) - sizeof(about);
        if (about.id.idx != CN_IDX_PROC || about.id.val != CN_VAL_PROC ||
            length < offsetof(struct cn_event, event_data) + sizeof(event.event_data.fork))
                return NL_SKIP;
        /* not aligned where it lies */
        memcpy(&event, (const char *) nlmsg_data(header) + sizeof(about),
               length < sizeof(event) ? length : sizeof(event));

        switch ((unsigned) event.what) {
        case CN_EVENT_NONE:
                p->is_ack = about.ack == p->token + 1;
                p->ack_error = event.event_data.ack.err;
                return NL_SKIP;
        case CN_EVENT_FORK:
                p->event = (struct proc_event){
                        .kind = PROC_EVENT_FORK,
                        .tid = event.event_data.fork.child_pid,
                        .tgid = event.event_data.fork.child_tgid,
                        .parent_tid = event.event_data.fork.parent_pid,
                        .parent_tgid = event.event_data.fork.parent_tgid,
                };
                if (p->event.tid != p->event.tgid) /* a thread's parent, to the kernel, is that of its process */
                        p->event.parent_tid = p->event.parent_tgid = p->event.tgid;
                break;
        case CN_EVENT_EXEC:
                p->event = (struct proc_event){
                        .kind = PROC_EVENT_EXEC,
                        .tid = event.event_data.exec.process_pid,
                        .tgid = event.event_data.exec.process_tgid,
                };
                break;
        case (unsigned) CN_EVENT_EXIT:
                p->event = (struct proc_event){
                        .kind = PROC_EVENT_EXIT,
                        .tid = event.event_data.exit.process_pid,
                        .tgid = event.event_data.exit.process_tgid,
                };
                break;
        default:
                return NL_SKIP;
        }
        p->is_event = true;
        return NL_SKIP; /* the payload comes as NLMSG_DONE, which has a meaning of its own to libnl */
}

/* Throws away what is queued. */
static void empty(const struct procevents *p) {
        char byte;

        while (recv(nl_socket_get_fd(p->socket), &byte, 1, MSG_DONTWAIT | MSG_TRUNC) >= 0 || errno == ENOBUFS)
                ;
}

/* One message. 0, -EAGAIN (none is queued), -ENOBUFS (some were lost, and the rest was thrown away) ... */
static int receive(struct procevents *p) {
        int r;

        p->is_event = p->is_ack = false;
        errno = 0;
        r = nl_recvmsgs_default(p->socket);
        if (r >= 0)
                return 0;
        r = nl_to_errno(r);
        /* After an overrun the kernel queues nothing, and reports no further loss, until the queue has run empty
         * (NETLINK_S_CONGESTED). */
        if (r == -ENOBUFS)
                empty(p);
        return r;
}

/* Events that come before the acknowledgement are from before the time that listen() promises. */
static int await_ack(struct procevents *p) {
        usec_t deadline = usec_now(CLOCK_MONOTONIC) + ACK_TIMEOUT;
        int r;

        for (;;) {
                r = receive(p);
                if (r == -ENOBUFS) { /* the acknowledgement may have been among them; what it would say was tried */
                        p->lost = true;
                        return 0;
                }
                if (r == 0 && p->is_ack)
                        return -(int) p->ack_error;
                if (r < 0 && r != -EAGAIN)
                        return r;
                if (usec_now(CLOCK_MONOTONIC) >= deadline)
                        return -ETIMEDOUT;
                if (r == -EAGAIN) {
                        struct pollfd wait = {.fd = nl_socket_get_fd(p->socket), .events = POLLIN};
                        (void) poll(&wait, 1, 10);
                }
        }
}

/* ---- listening ---- */

/* Uids, names, ptrace ... are dropped where they are sent. (struct proc_input, newer, does no more than this, and needs
 * care with acknowledgements.) */
static int set_filter(int fd) {
        static const unsigned at = sizeof(struct nlmsghdr) + sizeof(struct cn_msg) + offsetof(struct cn_event, what);
        /* loads are big-endian, `what` is in the host's order */
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htobe32(CN_EVENT_FORK), 4, 0),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htobe32(CN_EVENT_EXEC), 3, 0),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htobe32((unsigned) CN_EVENT_EXIT), 2, 0),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htobe32(CN_EVENT_NONE), 1, 0),
                BPF_STMT(BPF_RET | BPF_K, 0),
                BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        };
        struct sock_fprog program = {.len = ELEMENTS(code), .filter = code};

        return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ? -errno : 0;
}

static int request(struct procevents *p, enum proc_cn_mcast_op op) {
        struct cn_msg about = {
                .id = {.idx = CN_IDX_PROC, .val = CN_VAL_PROC},
                .ack = p->token,
                .len = sizeof(op),
        };
        struct nl_msg *msg;
        int r;

        msg = nlmsg_alloc_simple(NLMSG_DONE, 0);
        if (!msg)
                return -ENOMEM;
        r = nlmsg_append(msg, &about, sizeof(about), 0);
        if (r >= 0)
                r = nlmsg_append(msg, &op, sizeof(op), 0);
        if (r >= 0)
                r = nl_send_auto(p->socket, msg);
        nlmsg_free(msg);
        return r < 0 ? nl_to_errno(r) : 0;
}

/* A socket that hears nothing yet. */
static int open_socket(struct procevents *p) {
        const int queue = QUEUE_BYTES;
        struct nl_sock *socket;
        int r, fd;

        socket = nl_socket_alloc();
        if (!socket)
                return -ENOMEM;
        nl_socket_disable_seq_check(socket);
        nl_socket_disable_auto_ack(socket);
        nl_socket_disable_msg_peek(socket); /* messages are short and of one size */
        r = nl_socket_modify_cb(socket, NL_CB_MSG_IN, NL_CB_CUSTOM, on_message, p);
        if (r >= 0)
                r = nl_connect(socket, NETLINK_CONNECTOR);
        if (r >= 0)
                r = nl_socket_set_nonblocking(socket);
        r = r < 0 ? nl_to_errno(r) : 0;
        fd = nl_socket_get_fd(socket);
        if (r >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &queue, sizeof(queue)) < 0)
                r = -errno;
        if (r >= 0)
                r = set_filter(fd);
        if (r < 0) {
                nl_socket_free(socket);
                return r;
        }
        p->socket = socket;
        return 0;
}

static void deafen(struct procevents *p) {
        (void) nl_socket_drop_membership(p->socket, CN_IDX_PROC);
        empty(p);
}

static int start(struct procevents *p) {
        int r;

        if (!p->socket) {
                r = open_socket(p);
                if (r < 0)
                        return r;
        }
        r = nl_socket_add_membership(p->socket, CN_IDX_PROC);
        if (r < 0)
                return nl_to_errno(r);
        p->lost = false;
        p->token++;
        r = request(p, PROC_CN_MCAST_LISTEN);
        if (r >= 0)
                r = await_ack(p);
        if (r < 0)
                deafen(p);
        return r;
}

/* The socket is kept for the next time: to open one costs more than to listen. */
static int proc_events_listen(void *data, bool on) {
        const struct real *real = data;
        struct procevents *p = real->procevents;
        int r;

        if (on == p->on)
                return 0;
        if (on) {
                r = start(p);
                p->on = r == 0;
                return r;
        }
        /* The kernel counts its listeners, on 6.1 without noticing a closed socket. It does not acknowledge the last
         * one's leave. */
        r = request(p, PROC_CN_MCAST_IGNORE);
        deafen(p);
        p->on = false;
        return r;
}

static int proc_events_fd(void *data) {
        const struct real *real = data;

        return real->procevents->on ? nl_socket_get_fd(real->procevents->socket) : -1;
}

static int proc_events_next(void *data, struct proc_event *ret) {
        const struct real *real = data;
        struct procevents *p = real->procevents;
        int r;

        if (!p->on)
                return 0;
        if (p->lost) {
                p->lost = false;
                return -ENOBUFS;
        }
        for (;;) {
                r = receive(p);
                if (r < 0)
                        return r == -EAGAIN ? 0 : r;
                if (p->is_event) {
                        *ret = p->event;
                        return 1;
                }
        }
}

const struct proc_events_ops real_proc_events_ops = {
        .listen = proc_events_listen,
        .fd = proc_events_fd,
        .next = proc_events_next,
};

int procevents_open(struct real *real, struct failure *f) {
        real->procevents = calloc(1, sizeof(*real->procevents));
        if (!real->procevents)
                return fail(f, FAILURE_FAILED, -ENOMEM, "Out of memory");
        real->procevents->token = (uint32_t) getpid() << 8; /* other listeners see our acknowledgements too */
        return 0;
}

void procevents_close(struct real *real) {
        if (!real->procevents)
                return;
        (void) proc_events_listen(real, false);
        nl_socket_free(real->procevents->socket);
        free(real->procevents);
        real->procevents = NULL;
}
