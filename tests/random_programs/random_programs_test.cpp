// Random programs give the same bytes under Sluice as on the CPU device alone, each run by the
// device's own functions and then by Sluice's.
//
// SLUICE_RANDOM_PROGRAMS is how many programs each test runs, SLUICE_RANDOM_SEED the seed of the
// first; a failure names the seed of its program.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "random_programs/machine.hpp"
#include "random_programs/program.hpp"

extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return
      // A host that polls a flag knows by it that earlier copies, fills and host work are done; the
      // kernel that sets the flag is compiled without ThreadSanitizer.
      "race:sluice::hostcuda::perform\n"
      "race:sluice::random_programs::Machine::run_host_work\n"
      // The kernel compiler is built without ThreadSanitizer, which therefore does not see that its
      // tables and its cache are made before other threads use them.
      "race:sluice::hostcuda::CompiledModule::block_code\n"
      // The thread locals of libraries that were opened later, as glibc frees them.
      "race:_dl_deallocate_tls\n";
}

namespace sluice::random_programs {
namespace {

constexpr size_t most_runners = 2;
constexpr uint64_t programs_of_a_machine = 250;
constexpr unsigned hang_seconds = 120;

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// A program that hangs is named before the process ends.
std::atomic<uint64_t> running[most_runners];

void tell_of_hang(int) {
  char line[128] = "random programs: no end of seed";
  size_t length = std::strlen(line);
  for (const std::atomic<uint64_t>& seed : running) {
    char digits[24];
    size_t count = 0;
    for (uint64_t left = seed; count == 0 || left > 0; left /= 10)
      digits[count++] = static_cast<char>('0' + left % 10);
    line[length++] = ' ';
    while (count > 0)
      line[length++] = digits[--count];
  }
  line[length++] = '\n';
  static_cast<void>(!write(STDERR_FILENO, line, length));
  _exit(3);
}

std::string difference(const Answers& plain, const Answers& under) {
  for (size_t i = 0; i < plain.size() && i < under.size(); ++i) {
    for (size_t word = 0; word < plain[i].size() && word < under[i].size(); ++word) {
      if (plain[i][word] != under[i][word]) {
        size_t last = word;
        size_t count = 0;
        for (size_t other = word; other < plain[i].size() && other < under[i].size(); ++other) {
          if (plain[i][other] == under[i][other]) continue;
          last = other;
          ++count;
        }
        return "answer " + std::to_string(i) + " of " + std::to_string(plain.size()) +
               " differs in " + std::to_string(count) + " words from word " + std::to_string(word) +
               " to " + std::to_string(last);
      }
    }
  }
  return plain == under ? "" : "the answers are not of one length";
}

std::string read_text(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Libraries are the two drivers below the same programs.
struct Libraries {
  DriverApi plain = DriverApi::open(SLUICE_TEST_DRIVER);
  DriverApi sluice = DriverApi::open(SLUICE_TEST_SHIM);
  std::string ptx = read_text(SLUICE_TEST_PTX);
};

class Runner {
 public:
  Runner(const Libraries& libraries, size_t number) : libraries_(libraries), number_(number) {}

  // run() is what is wrong with the program, or nothing.
  std::string run(uint64_t seed) {
    if (left_ == 0) renew();
    --left_;
    running[number_] = seed;
    alarm(hang_seconds);
    const Program program = make_program(seed);
    try {
      const Answers plain = plain_->run(program);
      const Answers under = sluice_->run(program);
      const std::string found = difference(plain, under);
      if (found.empty()) return found;
      // Whoever answers otherwise for the second time was wrong once.
      return found + "\nplain, again: " + difference(plain, plain_->run(program)) +
             "\nunder Sluice, again: " + difference(under, sluice_->run(program)) + "\n" +
             text(program);
    } catch (const CallFailed& failure) {
      return std::string(failure.what()) + "\n" + text(program);
    }
  }

 private:
  void renew() {
    plain_.reset();
    sluice_.reset();
    plain_ = std::make_unique<Machine>(libraries_.plain, libraries_.ptx, second_);
    sluice_ = std::make_unique<Machine>(libraries_.sluice, libraries_.ptx, second_);
    left_ = programs_of_a_machine;
  }

  const Libraries& libraries_;
  const size_t number_;
  HelperThread second_;
  std::unique_ptr<Machine> plain_;
  std::unique_ptr<Machine> sluice_;
  uint64_t left_ = 0;
};

// run_programs() runs them on as many threads at the same time, each with streams of its own.
void run_programs(size_t runners, uint64_t first, uint64_t programs) {
  setenv("SLUICE_DEVICE", "cpu", 1);
  std::signal(SIGALRM, tell_of_hang);
  const Libraries libraries;
  first = setting("SLUICE_RANDOM_SEED", first);
  programs = setting("SLUICE_RANDOM_PROGRAMS", programs);
  std::atomic<uint64_t> next{0};
  std::string failures[most_runners];
  std::vector<std::thread> threads;
  for (size_t i = 0; i < runners; ++i) {
    threads.emplace_back([&, i] {
      Runner runner(libraries, i);
      for (uint64_t program = next++; program < programs && failures[i].empty(); program = next++)
        failures[i] = runner.run(first + program);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  alarm(0);
  for (const std::string& failure : failures) {
    if (!failure.empty()) ADD_FAILURE() << failure;
  }
}

// One program at a time has the longest windows: nobody else's calls close them.
TEST(RandomPrograms, GiveTheSameBytesOneAfterTheOther) {
  run_programs(1, 1, SLUICE_TEST_PROGRAMS / 2);
}

TEST(RandomPrograms, GiveTheSameBytesTwoAtATime) {
  run_programs(2, 1'000'001, SLUICE_TEST_PROGRAMS / 2);
}

// All that can be a task is one, however little Sluice pays here.
TEST(RandomPrograms, GiveTheSameBytesWithoutTheGovernor) {
  setenv("SLUICE_GOVERNOR", "off", 1);
  run_programs(1, 3'000'001, SLUICE_TEST_PROGRAMS / 5);
}

// Tasks in random topological orders on three workers; whatever waits for too little shows sooner.
TEST(RandomPrograms, GiveTheSameBytesInRandomOrdersOfTheirTasks) {
  setenv("SLUICE_STRESS", "1", 1);
  setenv("SLUICE_WORKERS", "3", 1);
  run_programs(2, 2'000'001, SLUICE_TEST_PROGRAMS / 10);
}

// As on a GPU, where windows are given to the driver and run by its workers.
TEST(RandomPrograms, GiveTheSameBytesAsMegakernel) {
  setenv("SLUICE_MEGAKERNEL", "wait", 1);
  run_programs(2, 4'000'001, SLUICE_TEST_PROGRAMS / 10);
}

}  // namespace
}  // namespace sluice::random_programs
