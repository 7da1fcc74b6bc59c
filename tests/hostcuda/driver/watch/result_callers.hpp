// What programs do with what a call returns. Their source is compiled twice, with and without
// optimisation.
#pragma once

#include <span>

struct ResultCaller {
  const char* name;
  void (*run)();
  bool drops;  // what the call returned
};

namespace optimised {
std::span<const ResultCaller> callers();
}
namespace unoptimised {
std::span<const ResultCaller> callers();
}

// The call. What it returns is never 0.
extern "C" int call_that_fails();
