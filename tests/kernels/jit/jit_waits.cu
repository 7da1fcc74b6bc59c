// Loops that wait for another thread, and loops that read what others write and don't.
using Word = unsigned;

// --- These wait.

extern "C" __global__ void reads_again(volatile Word* word, Word* out) {
  while (*word == 0) {
  }
  *out = 1;
}

extern "C" __global__ void by_a_branch(volatile int* start, int* order, int k) {
  while (k >= 0) {
    const int s = start[k];
    if (s >= 0) {
      order[s] = k;
      k -= 7;
    }
  }
}

extern "C" __global__ void by_a_flag(Word* words, const int* next, int count) {
  bool missing;
  do {
    missing = false;
    for (int i = 0; i < count; ++i) {
      if (atomicAdd(&words[i], 0) == 0) {
        if (atomicAdd(&words[next[i]], 0) == 0)
          missing = true;
        else
          atomicExch(&words[i], 1);
      }
    }
  } while (missing);
}

extern "C" __global__ void takes_a_lock(Word* lock, Word* count) {
  while (atomicExch(lock, 1) != 0) {
  }
  *count += 1;
  atomicExch(lock, 0);
}

extern "C" __global__ void looks_then_swaps(Word* lock, Word* count) {
  for (;;) {
    const Word seen = *(volatile Word*)lock;
    if (seen == 1) continue;
    if (atomicCAS(lock, seen, 1) == seen) break;
  }
  *count += 1;
}

extern "C" __global__ void reads_after_a_fence(Word* word, Word* out) {
  while (*word == 0)
    __threadfence();
  *out = 1;
}

extern "C" __global__ void most_so_far(volatile Word* word, Word goal, Word* out) {
  Word most = 0;
  while (most < goal) {
    const Word seen = *word;
    most = seen > most ? seen : most;
  }
  *out = most;
}

extern "C" __global__ void some_of_many(volatile Word* status, int tile, Word* out) {
  Word sum = 0;
  while (tile >= 0) {
    const Word seen = status[tile];
    if (seen == 0) continue;
    sum += seen;
    if (seen > 100) break;
    --tile;
  }
  *out = sum;
}

// Two loops as clang makes them one: which word is next, and whether any of this round is missing,
// are handed on.
extern "C" __global__ void round_and_round(volatile Word* words, Word count) {
  Word at = threadIdx.x;
  bool misses = false;
  bool again = true;
  while (again) {
    misses = misses || words[at] == 0;
    const Word next = at + blockDim.x;
    const bool more = next < count;
    again = more || misses;
    misses = more && misses;
    at = more ? next : threadIdx.x;
  }
}

// --- These don't.

extern "C" __global__ void retries(double* sum, double value) {
  unsigned long long* word = (unsigned long long*)sum;
  unsigned long long seen = *word;
  unsigned long long before;
  do {
    before = seen;
    seen = atomicCAS(word, before, __double_as_longlong(value + __longlong_as_double(before)));
  } while (before != seen);
}

extern "C" __global__ void pushes(volatile Word* head, Word* next, Word item) {
  Word seen;
  do {
    seen = *head;
    next[item] = seen;
  } while (atomicCAS((Word*)head, seen, item) != seen);
}

extern "C" __global__ void takes_turns(Word* turn, Word count, Word* out) {
  Word i;
  while ((i = atomicAdd(turn, 1)) < count)
    out[i] = i * i;
}

extern "C" __global__ void probes(Word* table, Word mask, Word key) {
  Word slot = key & mask;
  for (;;) {
    const Word seen = atomicCAS(&table[slot], 0, key);
    if (seen == 0 || seen == key) break;
    slot = (slot + 1) & mask;
  }
}

extern "C" __global__ void follows(volatile int* parent, int v, int* out) {
  int at = parent[v];
  int next;
  int before = v;
  while (at > (next = parent[at])) {
    parent[before] = next;
    before = at;
    at = next;
  }
  *out = at;
}

extern "C" __global__ void tries_often(volatile Word* word, Word* out) {
  Word tries = 0;
  while (*word == 0 && tries < 1000)
    ++tries;
  *out = tries;
}

extern "C" __global__ void adds_up(const volatile Word* words, int count, Word* out) {
  Word sum = 0;
  for (int i = 0; i < count && words[i] != 0; ++i)
    sum += words[i];
  *out = sum;
}

extern "C" __global__ void goes_on_together(const Word* words, Word* out) {
  __shared__ volatile bool again;
  Word value = words[threadIdx.x];
  do {
    __syncthreads();
    if (threadIdx.x == 0) again = false;
    __syncthreads();
    if (value > 1) {
      value /= 2;
      again = true;
    }
    __syncthreads();
  } while (again);
  out[threadIdx.x] = value;
}
