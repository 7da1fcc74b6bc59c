// What the analysis found, kept on disk, so that a program's next start need not analyse again.
#pragma once

#include <memory>
#include <string>

#include "base/cache_folder.hpp"
#include "runtime/code/kernel_model.hpp"

namespace sluice::runtime {

// cached_model_maker() makes models that answer from `folder` where they can, and else from the
// models of `maker`, whose answers it keeps: a signature for each kernel and PTX text, and for each
// first shape of a launch the footprints of those that followed and had to be analysed, up to 16.
// An answer that holds for a family of shapes answers for all of them, in this start and the next.
// The analysis answers by the sequence of shapes, so what is kept counts only while shapes that no
// family covers come in the order that was kept; where they leave it, the real model is made and
// hears of all of these so far. `identity` names the build of the analysis: answers of another one
// count as missing.
ModelMaker cached_model_maker(ModelMaker maker, std::shared_ptr<const CacheFolder> folder,
                              std::string identity);

}  // namespace sluice::runtime
