/* The protocol of the megakernel: workers take tickets (each fetches the next one before it runs the
 * current one, or near the window's end behind it), wait for the flags of their task's masters, run the task, release its flag. Two
 * windows run one after another over the same flags, which hold epochs and are never cleared.
 * How to run it and what it shows: README.md beside this file. */

#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef TASKS
#define TASKS 4
#endif
#define WINDOWS 2

/* What a mistake in the protocol would look like; the model must fail with each of them.
 * BUG_NO_WAIT: a task does not wait.  BUG_EARLY_RELEASE: a flag is released before the task is done.
 * BUG_SET_NOT_EPOCH: any flag that is not zero counts as set.  BUG_ORDER: tickets are no topological
 * order. */

/* Masters of each task as bits: a diamond, 0 -> {1, 2} -> 3. */
byte masters[TASKS];

/* Memory as the protocol sees it. */
byte next_ticket;
byte flag[TASKS];      /* the epoch in which it was last set */
byte counter;          /* finished tasks, over all windows: it only grows */
byte epoch;            /* of the window being run */
byte at_work;          /* workers that have not left the window */

/* Ghost state, for the assertions alone. */
byte done[TASKS];      /* the epoch in which the task's results were last complete */
byte runs[TASKS];

#ifdef BUG_SET_NOT_EPOCH
#define IS_SET(task) (flag[task] != 0)
#else
#define IS_SET(task) (flag[task] == epoch)
#endif

#ifdef BUG_ORDER
#define TASK(ticket) (TASKS - 1 - (ticket))
#else
#define TASK(ticket) (ticket)
#endif

inline take(ticket) {
  atomic { ticket = next_ticket; next_ticket++ }
}

inline await_masters(task) {
#ifndef BUG_NO_WAIT
  master = 0;
  do
  :: master == TASKS -> break
  :: master < TASKS ->
     if
     /* The acquire load that finds the flag set; until then the worker polls. */
     :: (masters[task] >> master) & 1 -> IS_SET(master)
     :: else -> skip
     fi;
     master++
  od;
#endif
  /* The last task also waits for all the others by the counter. */
  if
  :: task == TASKS - 1 -> counter >= (epoch - 1) * TASKS + TASKS - 1
  :: else -> skip
  fi
}

inline run_blocks(task) {
  /* No read before the masters' release: their results of this window are complete. */
  d_step {
    master = 0;
    do
    :: master == TASKS -> break
    :: master < TASKS ->
       assert(!((masters[task] >> master) & 1) || done[master] == epoch);
       master++
    od;
    master = 0
  };
#ifdef BUG_EARLY_RELEASE
  flag[task] = epoch;
#endif
  d_step { assert(done[task] == epoch - 1); done[task] = epoch; runs[task]++ }
}

inline release(task) {
  flag[task] = epoch;
  counter++
}

proctype Worker() {
  byte current;
  byte next;
  byte task;
  byte master;
  bool ahead;
  take(next);
  do
  :: next >= TASKS -> break
  :: next < TASKS ->
     current = next;
     /* Fetched ahead, and not used before the current task is done; or fetched only then. */
     if
     :: ahead = true; take(next)
     :: ahead = false
     fi;
     task = TASK(current);
     await_masters(task);
     run_blocks(task);
     release(task);
     if
     :: ahead -> skip
     :: else -> take(next)
     fi
  od;
  at_work--
}

init {
  byte i;
  atomic {
    masters[1] = 1;
    masters[2] = 1;
    masters[TASKS - 1] = 6;
  }
  do
  :: epoch == WINDOWS -> break
  :: epoch < WINDOWS ->
     atomic {
       epoch++;
       next_ticket = 0;     /* it lies in the window's own tables */
       at_work = WORKERS;
       i = 0;
       do
       :: i == WORKERS -> break
       :: i < WORKERS -> run Worker(); i++
       od
     }
     at_work == 0;          /* the kernel has ended: the next window may begin */
     d_step {
       i = 0;
       do
       :: i == TASKS -> break
       :: i < TASKS -> assert(runs[i] == epoch); i++
       od;
       assert(counter == epoch * TASKS)
     }
  od
}
