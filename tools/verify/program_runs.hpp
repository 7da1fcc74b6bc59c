// Running a program several times, each time noting what it copies to the host.
#pragma once

#include <string>

#include "base/file/temporary_folder.hpp"
#include "base/result.hpp"
#include "tools/run.hpp"
#include "tools/verify/recorded_copies.hpp"

namespace sluice::tools {

// ProgramRuns runs one program; its journals lie in a folder of their own, which goes with it.
class ProgramRuns {
 public:
  ProgramRuns(const RunOptions& options, const Start& start);

  // plain() runs it with all launches as they are, under_sluice() with those of `exclusion`, as
  // SLUICE_EXCLUDE takes it, beside what the environment excludes. Only the first run shows what
  // the program prints. An error where a journal cannot be read, or the user has interrupted the
  // run.
  Result<RunRecord> plain();
  Result<RunRecord> under_sluice(const std::string& exclusion = {});
  unsigned runs() const { return runs_; }

 private:
  Result<RunRecord> run(const std::string& exclusion);

  const RunOptions& options_;
  const Start& start_;
  const std::string excluded_;  // by the user
  const TemporaryFolder folder_{"sluice-verify"};
  unsigned runs_ = 0;
};

}  // namespace sluice::tools
