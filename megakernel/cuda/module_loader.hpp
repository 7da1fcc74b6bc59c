// Loading a linked megakernel into the driver.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"
#include "megakernel/cuda/body.hpp"
#include "megakernel/cuda/cuda_driver.hpp"

namespace sluice::megakernel {

// LoadedModule is what the driver made of it.
struct LoadedModule {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
};

// load_module() loads the text of link_megakernel() for these bodies into the context of the
// calling thread, with all of a block's shared memory allowed to it. An error has the driver's
// number, the first error of its log and the body in whose code that is; nothing stays loaded then.
Result<LoadedModule> load_module(const CudaDriver& driver, const std::string& text,
                                 std::span<const TaskBody* const> bodies);

// first_error() is the first line of the driver's log that tells of an error, without what all such
// lines begin with, and the body where it names a line of `text` ("in body of kernel k: ...").
// Empty for an empty log.
std::string first_error(const std::string& log, const std::string& text,
                        std::span<const TaskBody* const> bodies);

}  // namespace sluice::megakernel
