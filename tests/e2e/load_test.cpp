// Two hundred runs in a row beside two busy processes: none hangs, none differs.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

// BusyProcess takes a whole core until the object goes, or this process does.
class BusyProcess {
 public:
  BusyProcess() : child_(fork()) {
    if (child_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned turns = 0;;)
      turns = turns + 1;
  }
  ~BusyProcess() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;

 private:
  pid_t child_;
};

TEST(UnderLoad, TwoHundredRunsNeitherHangNorDiffer) {
  const BusyProcess first;
  const BusyProcess second;
  // timeout(1) turns a hang into exit status 124; no run comes near it.
  const std::vector<std::string> command = {"timeout", "60",      build_path("samples/stencil"),
                                            "--size",  "200",     "--iterations",
                                            "30",      "--block", "16,8"};
  const auto answer = [](const Outcome& outcome) {
    const size_t place = outcome.output.find("checksum=");
    return outcome.status == 0 && place != std::string::npos
               ? outcome.output.substr(place, 9 + 16)
               : "status " + std::to_string(outcome.status) + ": " + outcome.errors;
  };
  const std::string plain = answer(sluice_run({"--off"}, command));
  ASSERT_EQ(plain.find("checksum="), 0) << plain;
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(answer(sluice_run({}, command)), plain) << "run " << i;
}

}  // namespace
}  // namespace sluice::e2e
