// SPDX-License-Identifier: LGPL-2.1-or-later
/* PURE. The next step for one tenant. A cookie's number says something only as long as a task that carries it lives, so
 * the tenant's cookie is believed only while a task inside carries it: without one, nothing is shared, and nobody
 * outside is cleared. */
#include "plan.h"
#include <errno.h>

/* Which threads of a place a delivery is for. */
struct goal {
        enum seen_place place;
        enum { ANY_COOKIE, THIS_COOKIE, OTHER_COOKIE, GIVEN_COOKIE, UNGIVEN_COOKIE } which;
        uint64_t cookie;
};

static bool goal_meets(const struct goal *goal, const struct seen *seen) {
        if (seen->place != goal->place || seen->error != 0)
                return false;
        bool same = seen->cookie == goal->cookie;
        switch (goal->which) {
        case ANY_COOKIE:
                return true;
        case THIS_COOKIE:
                return same;
        case OTHER_COOKIE:
                return !same;
        case GIVEN_COOKIE:
                return same && seen->given;
        case UNGIVEN_COOKIE:
                return same && !seen->given;
        }
        return false;
}

/* Deliveries go by thread group where they can, and thread by thread for the rest. One step is of one kind: the groups
 * come first, which mostly leaves nothing of the others. Threads of a threaded cgroup have siblings in other cgroups;
 * mere threads of a group whose leader is as it should be are few, or each got its own cookie by itself: a push to the
 * group for each of them would cost their number squared. */
enum reach { BY_GROUP, BY_THREAD, BY_THREAD_IN_THREADED, _REACH_MAX };

static enum reach seen_reach(const struct seen *seen) {
        if (seen->threaded)
                return BY_THREAD_IN_THREADED;
        return seen->leader ? BY_GROUP : BY_THREAD;
}

static bool is_taken(const struct plan_input *input, uint64_t cookie) {
        size_t low = 0, high = input->n_taken;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (input->taken[middle] == cookie)
                        return true;
                if (input->taken[middle] < cookie)
                        low = middle + 1;
                else
                        high = middle;
        }
        return false;
}

/* Fills plan for the threads that meet the goal. 1, 0 if there are none (plan is untouched), or -ENOMEM. */
static int deliver(const struct plan_input *input, enum plan_step step, const struct goal *goal, struct plan *plan) {
        size_t n[_REACH_MAX] = {0};
        for (size_t i = 0; i < input->n_seen; i++)
                if (goal_meets(goal, input->seen + i))
                        n[seen_reach(input->seen + i)]++;
        enum reach reach = BY_GROUP;
        while (n[reach] == 0)
                if (++reach == _REACH_MAX)
                        return 0;
        if (input->freeze && !input->frozen && step != PLAN_CLEAR) {
                plan->step = PLAN_FREEZE;
                return 1;
        }
        pid_t *targets = reallocarray(NULL, n[reach], sizeof(*targets));
        if (!targets)
                return -ENOMEM;
        size_t at = 0;
        for (size_t i = 0; i < input->n_seen; i++)
                if (goal_meets(goal, input->seen + i) && seen_reach(input->seen + i) == reach)
                        targets[at++] = input->seen[i].tid;
        *plan = (struct plan){.step = step, .by_thread = reach != BY_GROUP, .targets = targets, .n_targets = at};
        return 1;
}

/* An inside thread that carries the cookie, a leader if there is one. */
static const struct seen *find_source(const struct plan_input *input, uint64_t cookie) {
        const struct seen *found = NULL;
        const struct goal goal = {SEEN_INSIDE, THIS_COOKIE, cookie};
        for (size_t i = 0; i < input->n_seen; i++) {
                const struct seen *seen = input->seen + i;
                if (!goal_meets(&goal, seen))
                        continue;
                if (seen->leader)
                        return seen;
                if (!found)
                        found = seen;
        }
        return found;
}

static int compare_cookies(const void *a, const void *b, void *seen) {
        const struct seen *s = seen;
        uint64_t x = s[*(const pid_t *) a].cookie, y = s[*(const pid_t *) b].cookie;
        return x < y ? -1 : x > y;
}

/* The cookie that most threads inside carry among those that nobody outside is known to carry; 0 when there is none. */
static int find_adoptable(const struct plan_input *input, uint64_t *ret) {
        size_t inside = 0;
        for (size_t i = 0; i < input->n_seen; i++) {
                const struct seen *seen = input->seen + i;
                if (seen->place == SEEN_INSIDE)
                        inside += seen->error == 0 && seen->cookie != 0 && !seen->left;
                else if (seen->error != 0 && seen->error != -ESRCH && seen->cookie == 0 && input->whole_host) {
                        *ret = 0; /* it could carry any */
                        return 0;
                }
        }
        if (inside == 0) {
                *ret = 0;
                return 0;
        }
        _cleanup_free_ pid_t *order = reallocarray(NULL, input->n_seen, sizeof(*order));
        if (!order)
                return -ENOMEM;
        size_t n = 0;
        for (size_t i = 0; i < input->n_seen; i++)
                if (input->seen[i].cookie != 0)
                        order[n++] = (pid_t) i;
        qsort_r(order, n, sizeof(*order), compare_cookies, (void *) input->seen);
        uint64_t best = 0;
        size_t best_count = 0;
        for (size_t i = 0; i < n;) {
                uint64_t cookie = input->seen[order[i]].cookie;
                size_t count = 0;
                bool outside = false;
                for (; i < n && input->seen[order[i]].cookie == cookie; i++) {
                        const struct seen *seen = input->seen + order[i];
                        if (seen->place != SEEN_INSIDE || seen->left)
                                outside = true;
                        else if (seen->error == 0)
                                count++;
                }
                if (!outside && count > best_count && !is_taken(input, cookie)) {
                        best = cookie;
                        best_count = count;
                }
        }
        *ret = best;
        return 0;
}

static int plan_tagged(const struct plan_input *input, struct plan *plan) {
        int r;
        bool known = input->cookie != 0 && !is_taken(input, input->cookie);
        const struct seen *source = known ? find_source(input, input->cookie) : NULL;
        if (!source) {
                uint64_t adoptable;
                r = find_adoptable(input, &adoptable);
                if (r < 0)
                        return r;
                if (adoptable != 0) {
                        plan->step = input->whole_host ? PLAN_ADOPT : PLAN_WHOLE_HOST;
                        plan->cookie = input->whole_host ? adoptable : 0;
                        return 0;
                }
                return deliver(input, PLAN_NEW, &(struct goal){SEEN_INSIDE, ANY_COOKIE, 0}, plan);
        }
        r = deliver(input, PLAN_SHARE, &(struct goal){SEEN_INSIDE, OTHER_COOKIE, input->cookie}, plan);
        if (r != 0) {
                if (r > 0 && plan->step == PLAN_SHARE) {
                        plan->cookie = input->cookie;
                        plan->source = source->tid;
                }
                return r;
        }
        if (input->adopted)
                return 0;
        return deliver(input, PLAN_CLEAR, &(struct goal){SEEN_OUTSIDE, THIS_COOKIE, input->cookie}, plan);
}

/* Those outside come first, while there still is somebody inside to tell that the number means our cookie. */
static int plan_untagged(const struct plan_input *input, struct plan *plan) {
        if (input->cookie == 0 || (input->adopted && input->wish != WISH_UNTAGGED_FORCE))
                return 0;
        if (!is_taken(input, input->cookie) && find_source(input, input->cookie)) {
                int r = deliver(input, PLAN_CLEAR, &(struct goal){SEEN_OUTSIDE, THIS_COOKIE, input->cookie}, plan);
                if (r != 0)
                        return r;
        }
        return deliver(input, PLAN_CLEAR, &(struct goal){SEEN_INSIDE, THIS_COOKIE, input->cookie}, plan);
}

static bool any_meets(const struct plan_input *input, const struct goal *goal) {
        for (size_t i = 0; i < input->n_seen; i++)
                if (goal_meets(goal, input->seen + i))
                        return true;
        return false;
}

/* Strangers that were given the cookie by mistake, and members that took it along, come first: that it is the tenant's
 * is certain. As long as they carry it, the same is certain of whoever else does outside, as their children do. */
static int plan_strays(const struct plan_input *input, struct plan *plan) {
        struct goal goal = {SEEN_OUTSIDE, GIVEN_COOKIE, input->cookie};
        if (input->cookie == 0 || !any_meets(input, &goal))
                return 0;
        if (input->whole_host && !input->adopted) {
                int r = deliver(input, PLAN_CLEAR, &(struct goal){SEEN_OUTSIDE, UNGIVEN_COOKIE, input->cookie}, plan);
                if (r != 0)
                        return r;
        }
        return deliver(input, PLAN_CLEAR, &goal, plan);
}

int plan_make(const struct plan_input *input, struct plan *ret) {
        struct plan plan = {.step = PLAN_DONE};
        int r = plan_strays(input, &plan);
        if (r == 0)
                r = input->wish == WISH_TAGGED ? plan_tagged(input, &plan) : plan_untagged(input, &plan);
        if (r < 0)
                return r;
        *ret = plan;
        return 0;
}

void plan_done(struct plan *plan) {
        free(plan->targets);
        *plan = (struct plan){0};
}
