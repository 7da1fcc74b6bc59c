// Which line of the CUDA source each instruction of a kernel is of, for debuggers and profilers.
#pragma once

#include <llvm/IR/Module.h>

#include "hostcuda/jit/lowering/thread_function.hpp"
#include "ptx/text/source_lines.hpp"

namespace sluice::hostcuda::jit {

// are_lines_wanted() is true where SLUICE_CODE_LINES asks for them: names and lines then go to gdb
// and perf (told_code.hpp).
bool are_lines_wanted();

// note_lines() gives the instructions of a thread function their lines, of nvcc's -lineinfo; those
// that made from them have them too.
void note_lines(const ThreadFunction& thread, const ptx::SourceLines& lines);

// settle_lines() comes when all functions are made: each that holds such instructions gets the
// kernel's name.
void settle_lines(llvm::Module& module, const std::string& kernel, const ptx::SourceLines& lines);

}  // namespace sluice::hostcuda::jit
