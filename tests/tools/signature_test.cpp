// Names and types of parameters, from mangled names and from source.
#include "tools/explain/signature.hpp"

#include <gtest/gtest.h>

namespace sluice::tools {
namespace {

TEST(Signature, TypesComeFromTheMangledName) {
  const KernelSignatureText text = signature_of("_Z6linearPKfS0_Pfi");
  EXPECT_EQ(text.declaration(), "linear(const float *, const float *, float *, int)");
  EXPECT_EQ(text.argument(1), "argument 1 (const float *)");
  EXPECT_EQ(text.argument(7), "argument 7");
  EXPECT_EQ(signature_of("_Z4tickv").declaration(), "tick()");
  EXPECT_EQ(signature_of("stencil").declaration(), "stencil");
}

TEST(Signature, NamesComeFromTheSource) {
  KernelSignatureText text = signature_of("_Z6linearPKfS0_Pfi");
  EXPECT_TRUE(take_source(text, R"(
    void linear(int);  // linear( in a comment
    template <class T> __global__ void linear2(T* a, T* b, T* c, int d) {}
    __global__ void __launch_bounds__(256)
    linear(const float* __restrict__ in, /* row, major */ const float *weights,
           float* out, int columns) { linear2(in, 0, out, 1); }
  )",
                          4));
  EXPECT_EQ(text.declaration(),
            "linear(const float *in, const float *weights, float *out, int columns)");
  EXPECT_EQ(text.argument(1), "weights");
}

TEST(Signature, AnUnmangledKernelTakesItsTypesFromTheSourceToo) {
  KernelSignatureText text = signature_of("stencil");
  const std::string source =
      "extern \"C\" __global__ void stencil(const float* in, float* out, int n);";
  EXPECT_TRUE(take_source(text, source, 3));
  EXPECT_EQ(text.declaration(), "stencil(const float *in, float *out, int n)");
}

TEST(Signature, AmbiguousSourceIsNotBelieved) {
  KernelSignatureText text = signature_of("f");
  EXPECT_FALSE(take_source(text, "__global__ void f(int a) {}", 2));
  EXPECT_FALSE(take_source(text, "__global__ void f(int a) {} __global__ void f(float b) {}", 1));
  EXPECT_FALSE(take_source(text, "void f(int a) {}", 1));
  EXPECT_EQ(text.declaration(), "f");
}

TEST(Signature, ElementsOfPointers) {
  EXPECT_EQ(element_bytes("const float *"), 4u);
  EXPECT_EQ(element_bytes("float **"), 8u);
  EXPECT_EQ(element_bytes("Image"), 0u);
  EXPECT_EQ(element_bytes("Image *"), 0u);
}

}  // namespace
}  // namespace sluice::tools
