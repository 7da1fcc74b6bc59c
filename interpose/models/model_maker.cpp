// libsluice-analysis.so.
#include "interpose/models/analysis_library.hpp"
#include "runtime/code/analysis_model.hpp"

const sluice::runtime::ModelMaker* sluice_model_maker(sluice::AssertionHandler handler) {
  // Never destroyed: kernels are analysed beside the program until its end.
  static const auto* const maker = [handler] {
    sluice::set_assertion_handler(handler);
    return new sluice::runtime::ModelMaker(sluice::runtime::analysis_model_maker());
  }();
  return maker;
}
