// Probe 2: what it costs to take a ticket from a counter that all workers share.
#include <algorithm>

#include "device.cuh"
#include "probes.hpp"
#include "ptx.cuh"
#include "report/recorder.hpp"

namespace sluice::gpu_probe {
namespace {

constexpr int threads = 64;
constexpr unsigned line_words = 32;  // counters of different SMs lie on different 128-byte lines

// What the workers found: how many tickets, and the sum of their numbers as a check that each was
// taken once.
struct Tally {
  unsigned long long* count;
  unsigned long long* sum;
};

__device__ void add_up(Tally tally, unsigned long long count, unsigned long long sum) {
  if (threadIdx.x == 0) {
    atomicAdd(tally.count, count);
    atomicAdd(tally.sum, sum);
  }
}

// One counter. Fetching ahead takes the next ticket before the body instead of after it.
template <bool ahead>
__global__ void __launch_bounds__(threads)
    one_counter(unsigned* counter, unsigned total, long long cycles, Tally tally) {
  __shared__ unsigned shared_ticket;
  unsigned long long count = 0;
  unsigned long long sum = 0;
  unsigned next = 0;
  if (ahead && threadIdx.x == 0) {
    next = take_ticket(counter);
  }
  for (;;) {
    if (threadIdx.x == 0) {
      shared_ticket = ahead ? next : take_ticket(counter);
    }
    __syncthreads();
    const unsigned ticket = shared_ticket;
    if (ticket >= total) {
      break;
    }
    if (ahead && threadIdx.x == 0) {
      next = take_ticket(counter);
    }
    stay_busy(cycles);
    ++count;
    sum += ticket;
    __syncthreads();
  }
  add_up(tally, count, sum);
}

// A counter for each SM with `shares[sm]` tickets. A worker takes from its own SM's, and when that
// is used up goes on to the next SM's, for good: a counter never gets new tickets.
__global__ void __launch_bounds__(threads)
    counter_per_sm(unsigned* counters, const unsigned* shares, unsigned sms, long long cycles,
                   Tally tally) {
  __shared__ unsigned shared_ticket;
  __shared__ bool shared_found;
  unsigned long long count = 0;
  unsigned long long sum = 0;
  unsigned offset = 0;
  // Where SM numbers have gaps, the remainder still gives every worker some home.
  const unsigned home = sm_id() % sms;
  for (;;) {
    if (threadIdx.x == 0) {
      bool found = false;
      while (!found && offset < sms) {
        const unsigned victim = (home + offset) % sms;
        shared_ticket = take_ticket(&counters[victim * line_words]);
        found = shared_ticket < shares[victim];
        offset += found ? 0 : 1;
      }
      shared_found = found;
    }
    __syncthreads();
    if (!shared_found) {
      break;
    }
    ++count;
    sum += shared_ticket;
    stay_busy(cycles);
    __syncthreads();
  }
  add_up(tally, count, sum);
}

// One case: launches, times and checks; returns microseconds.
class TicketBench {
 public:
  explicit TicketBench(const Device& device)
      : sms_(static_cast<unsigned>(device.sm_count)),
        counters_(sms_ * line_words),
        shares_(sms_),
        tally_(2),
        stopwatch_(stream_) {}

  double run_one(bool ahead, int blocks, unsigned total, long long cycles) {
    clear();
    auto* const kernel = ahead ? one_counter<true> : one_counter<false>;
    stopwatch_.start();
    kernel<<<blocks, threads, 0, stream_.get()>>>(counters_.get(), total, cycles, tally());
    check(cudaGetLastError(), "launching the ticket kernel");
    const double time = stopwatch_.stop();
    verify(total, triangle(total));
    return time;
  }

  double run_per_sm(int blocks, const std::vector<unsigned>& shares, long long cycles) {
    clear();
    shares_.upload(shares);
    stopwatch_.start();
    counter_per_sm<<<blocks, threads, 0, stream_.get()>>>(counters_.get(), shares_.get(), sms_,
                                                          cycles, tally());
    check(cudaGetLastError(), "launching the stealing kernel");
    const double time = stopwatch_.stop();
    unsigned long long count = 0;
    unsigned long long sum = 0;
    for (const unsigned share : shares) {
      count += share;
      sum += triangle(share);
    }
    verify(count, sum);
    return time;
  }

 private:
  static unsigned long long triangle(unsigned long long n) { return n == 0 ? 0 : n * (n - 1) / 2; }
  Tally tally() const { return {tally_.get(), tally_.get() + 1}; }

  void clear() {
    counters_.clear();
    tally_.clear();
    check(cudaDeviceSynchronize(), "clearing the counters");
  }

  void verify(unsigned long long count, unsigned long long sum) const {
    const std::vector<unsigned long long> found = tally_.download();
    if (found[0] != count || found[1] != sum) {
      throw ProbeFailure("tickets were lost or taken twice");
    }
  }

  unsigned sms_;
  Buffer<unsigned> counters_;
  Buffer<unsigned> shares_;
  Buffer<unsigned long long> tally_;
  Stream stream_;
  Stopwatch stopwatch_;
};

// Shares of `total` tickets: even, or all on every second SM, so that the others must steal.
std::vector<unsigned> shares_of(unsigned sms, unsigned total, bool even) {
  std::vector<unsigned> shares(sms, 0);
  const unsigned owners = even ? sms : (sms + 1) / 2;
  for (unsigned sm = 0; sm < sms; sm += even ? 1 : 2) {
    shares[sm] = total / owners;
  }
  return shares;
}

// Turns microseconds of a run into the two figures and records both.
void record(Recorder& recorder, const std::string& name, std::vector<double> times, double tickets,
            int workers, double body_us, Range expected) {
  std::vector<double> rates;
  for (double& time : times) {
    rates.push_back(tickets / time);
    time = time * workers / tickets * 1000 - body_us * 1000;
  }
  recorder.row(name, "ns/ticket", times, expected);
  recorder.row(name, "M/s", rates);
}

}  // namespace

void probe_tickets(const Device& device, Recorder& recorder) {
  recorder.begin(
      2, "Tickets",
      "a ticket is one atomic add on one word of the L2: its latency is an L2 round trip (200 to "
      "900 ns with the way through the SM and two block barriers) as long as few workers ask. One "
      "L2 "
      "slice does at most about one add on the same word a clock, so the rate ends near 1,000 M/s "
      "and the time a ticket then grows with the number of workers. Fetched ahead of a body that "
      "is "
      "longer than that, a ticket costs its two barriers only (below 150 ns). Counters for each SM "
      "keep the latency and have no common limit; stealing adds a failed add per empty counter.");
  TicketBench bench(device);
  const int most = std::min(16, std::min(resident_blocks(one_counter<true>, threads),
                                         resident_blocks(counter_per_sm, threads)));
  for (int a_sm = 1; a_sm <= most; a_sm *= 2) {
    const int workers = a_sm * device.sm_count;
    const unsigned total = 1u << 18;
    const std::string blocks = std::to_string(a_sm) + " blocks/SM";
    for (const double body_us : {0.0, 1.0}) {
      const long long cycles = device.cycles(body_us);
      const std::string body = body_us == 0 ? "empty body, " : "1 us body, ";
      for (const bool ahead : {false, true}) {
        const bool hidden = ahead && body_us > 0;
        record(recorder, "one counter, " + body + blocks + (ahead ? ", ahead" : ""),
               measure([&] { return bench.run_one(ahead, workers, total, cycles); }), total,
               workers, body_us, hidden ? Range{0, 400} : Range{150, 3000});
      }
      for (const bool even : {true, false}) {
        const auto shares = shares_of(static_cast<unsigned>(device.sm_count), total, even);
        double tickets = 0;
        for (const unsigned share : shares) {
          tickets += share;
        }
        record(recorder,
               "counter/SM, " + body + blocks + (even ? ", even shares" : ", half must steal"),
               measure([&] { return bench.run_per_sm(workers, shares, cycles); }), tickets, workers,
               body_us, Range{150, 3000});
      }
    }
  }
}

}  // namespace sluice::gpu_probe
