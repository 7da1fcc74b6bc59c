// One module of several units: every name means what its unit means by it.
#include "ptx/link.hpp"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "corpus.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

namespace sluice::ptx::test {
namespace {

constexpr const char* header = ".version 7.0\n.target sm_75\n.address_size 64\n";

// Units are called a, b, c ... in errors; `vprintf` is there without a unit.
Result<Module> link(const std::vector<std::string>& bodies) {
  std::vector<LinkUnit> units;
  for (const std::string& body : bodies) {
    auto module = parse(header + body);
    EXPECT_TRUE(module) << module.error().line();
    if (module) units.push_back({std::string(1, char('a' + units.size())), std::move(*module)});
  }
  return link_units(std::move(units), [](std::string_view name) { return name == "vprintf"; });
}

// The linked module, printed; parsing that gives the module again.
std::string linked(const std::vector<std::string>& bodies) {
  const Result<Module> module = link(bodies);
  EXPECT_TRUE(module) << module.error().line();
  if (!module) return {};
  const std::string text = print(*module);
  const Result<Module> again = parse(text);
  EXPECT_TRUE(again && *again == *module) << text;
  return text;
}

std::string error_of(const std::vector<std::string>& bodies) {
  const Result<Module> module = link(bodies);
  return module ? "linked" : module.error().line();
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

const Variable* variable(const Module& module, std::string_view name) {
  for (const ModuleItem& item : module.items) {
    const auto* found = std::get_if<Variable>(&item);
    if (found != nullptr && found->name == name) return found;
  }
  return nullptr;
}

const std::string twice =
    ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<2>;\n"
    "ld.param.b32 %r0, [x];\nadd.s32 %r0, %r0, %r0;\nst.param.b32 [r], %r0;\nret;\n}\n";
const std::string caller =
    ".extern .func (.param .b32 r) twice(.param .b32 x);\n.extern .global .align 4 .u32 total;\n"
    ".visible .entry k()\n{\n.reg .b32 %r<2>;\n.param .b32 p;\n.param .b32 q;\n"
    "ld.global.u32 %r0, [total];\nst.param.b32 [p], %r0;\ncall (q), twice, (p);\n"
    "ld.param.b32 %r1, [q];\nst.global.u32 [total], %r1;\nret;\n}\n";

TEST(Link, DeclarationsGetTheDefinitionsOfOtherUnits) {
  const std::string text = linked({caller, twice, ".visible .global .align 4 .u32 total = 3;\n"});
  EXPECT_EQ(text.find(".extern"), std::string::npos) << text;
  EXPECT_EQ(count(text, "total"), 3u) << text;
  // A prototype stands before the first call.
  EXPECT_LT(text.find("twice("), text.find("call")) << text;
  EXPECT_EQ(count(text, "twice("), 2u) << text;
}

TEST(Link, TheOrderOfUnitsDoesNotMatter) {
  const std::string total = ".visible .global .align 4 .u32 total = 3;\n";
  const Result<Module> module = link({total, twice, caller});
  ASSERT_TRUE(module) << module.error().line();
  ASSERT_NE(module->find_function("twice"), nullptr);
  EXPECT_TRUE(module->find_function("twice")->is_definition);
  EXPECT_EQ(variable(*module, "total")->initialiser.size(), 1u);
}

// `state`, and the function that reads it, are each unit's own.
std::string counting(const std::string& kernel, int start) {
  return ".global .align 4 .u32 state = " + std::to_string(start) +
         ";\n.global .align 8 .u64 table[1] = {next};\n"
         ".func next()\n{\n.reg .b32 %r<2>;\nld.global.u32 %r0, [state+0];\nret;\n}\n"
         ".visible .entry " +
         kernel + "(.param .u32 table)\n{\n.reg .b64 %d<2>;\nmov.u64 %d0, state;\n" +
         "ld.param.u32 %d1, [table];\ncall next;\nret;\n}\n";
}

TEST(Link, NamesOfOneUnitAloneStayApart) {
  const Result<Module> module = link({counting("one", 1), counting("two", 2)});
  ASSERT_TRUE(module) << module.error().line();
  const auto start = [&](const char* name) {
    return std::get<IntegerLiteral>(variable(*module, name)->initialiser.at(0).value).bits;
  };
  EXPECT_EQ(start("state"), 1u);
  EXPECT_EQ(start("state$2"), 2u);
  EXPECT_EQ(std::get<Identifier>(variable(*module, "table$2")->initialiser.at(0).value).name,
            "next$2");
  const std::string text = print(*module);
  EXPECT_EQ(count(text, "call next;"), 1u) << text;
  EXPECT_EQ(count(text, "call next$2;"), 1u) << text;
  EXPECT_EQ(count(text, "[state]") + count(text, "[state+0]"), 1u) << text;
  EXPECT_EQ(count(text, "%d0, state$2;"), 1u) << text;
  // The parameter hides the variable.
  EXPECT_EQ(count(text, "[table]"), 2u) << text;
}

TEST(Link, PtxasTakesWhatIsLinked) {
  const std::string text = linked({caller, counting("one", 1), counting("two", 2), twice,
                                   ".visible .global .align 4 .u32 total = 3;\n"});
  const ScratchFolder scratch;
  const std::string stem = scratch.file("linked");
  std::ofstream(stem + ".ptx") << text;
  const std::string command =
      std::string(SLUICE_PTXAS) + " -arch=sm_75 -o " + stem + ".cubin " + stem + ".ptx";
  EXPECT_EQ(std::system(command.c_str()), 0) << text;
}

TEST(Link, AUnitsOwnNameIsNotAnothersVisibleOne) {
  const std::string text = linked({".visible .global .align 4 .u32 x = 1;\n",
                                   ".global .align 4 .u32 x = 2;\n.global .align 4 .u32 x$2 = 4;\n"
                                   ".visible .entry k()\n{\n.reg .b32 %r<2>;\n"
                                   "ld.global.u32 %r0, [x];\nret;\n}\n"});
  EXPECT_EQ(count(text, "x$2$ = 2;"), 1u) << text;
  EXPECT_EQ(count(text, "[x$2$]"), 1u) << text;
}

TEST(Link, VisibleBeatsCommonBeatsWeak) {
  const std::string weak = ".weak .global .align 4 .u32 x = 1;\n";
  const std::string second = ".weak .global .align 4 .u32 x = 2;\n";
  const std::string common = ".common .global .align 4 .b8 x[4];\n";
  const std::string larger = ".common .global .align 4 .b8 x[12];\n";
  const std::string visible = ".visible .global .align 4 .u32 x = 7;\n";
  EXPECT_NE(linked({weak, second}).find("x = 1;"), std::string::npos);
  EXPECT_NE(linked({weak, common}).find("x[4];"), std::string::npos);
  EXPECT_NE(linked({common, larger, common}).find("x[12];"), std::string::npos);
  const std::string text = linked({weak, larger, visible, second});
  EXPECT_EQ(count(text, " x"), 1u) << text;
  EXPECT_NE(text.find("x = 7;"), std::string::npos) << text;
}

TEST(Link, WeakFunctionsAreThereOnce) {
  const std::string weak = ".weak .func f()\n{\nret;\n}\n.weak .entry k()\n{\ncall f;\nret;\n}\n";
  const Result<Module> module = link({weak, weak, weak});
  ASSERT_TRUE(module) << module.error().line();
  EXPECT_EQ(module->kernels().size(), 1u);
  EXPECT_EQ(module->items.size(), 3u);  // with a prototype
}

TEST(Link, WhatIsProvidedStaysDeclared) {
  const std::string print =
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
      ".visible .entry KERNEL()\n{\n.reg .b32 %r<2>;\n.param .b64 p;\n.param .b64 q;\n"
      ".param .b32 s;\ncall (s), vprintf, (p, q);\nret;\n}\n";
  const auto named = [&](const std::string& name) {
    std::string text = print;
    return text.replace(text.find("KERNEL"), 6, name);
  };
  const std::string text = linked({named("one"), named("two")});
  EXPECT_EQ(count(text, ".extern .func"), 1u) << text;
}

TEST(Link, DynamicSharedMemoryIsAllUnits) {
  const Result<Module> module = link({".extern .shared .align 4 .b8 pool[];\n",
                                      ".extern .shared .v4 .f32 pool[];\n.visible .entry k()\n{\n"
                                      ".reg .b64 %d<2>;\nmov.u64 %d0, pool;\nret;\n}\n"});
  ASSERT_TRUE(module) << module.error().line();
  ASSERT_NE(variable(*module, "pool"), nullptr);
  EXPECT_EQ(variable(*module, "pool")->alignment, 16u);
}

TEST(Link, TheNewestVersionAndTargetAreTheModules) {
  const auto first = parse(".version 7.8\n.target sm_90\n.address_size 64\n");
  const auto second = parse(".version 8.3\n.target sm_80\n.address_size 64\n");
  const auto module =
      link_units({{"a", *first}, {"b", *second}}, [](std::string_view) { return false; });
  ASSERT_TRUE(module);
  EXPECT_EQ(module->version_major, 8u);
  EXPECT_EQ(module->version_minor, 3u);
  EXPECT_EQ(module->target, std::vector<std::string>{"sm_90"});
}

TEST(Link, FilesAndLinesAreLeftOut) {
  const std::string text =
      linked({".visible .entry k()\n{\n{\n.loc 1 2 3\nret;\n}\n}\n.file 1 "
              "\"a.cu\"\n",
              ".file 1 \"b.cu\"\n"});
  EXPECT_EQ(text.find(".loc"), std::string::npos) << text;
  EXPECT_EQ(text.find(".file"), std::string::npos) << text;
}

TEST(Link, EachErrorNamesTheSymbolAndTheUnits) {
  EXPECT_EQ(error_of({caller, twice}),
            "a: 'total' is used, and no unit defines it; give the linker the PTX that defines it");
  EXPECT_EQ(error_of({twice, twice}),
            "b: 'twice' is defined here and in a; make one of them .weak or rename it");
  EXPECT_EQ(error_of({twice, ".visible .global .u32 twice;\n"}),
            "b: 'twice' is a .global variable of 4 bytes here and a function in a");
  EXPECT_EQ(error_of({".visible .const .u32 x = 1;\n", ".extern .global .u32 x;\n"}),
            "b: 'x' is a .global variable of 4 bytes here and a .const variable of 4 bytes in a");
  EXPECT_EQ(error_of({".visible .global .u32 x[3];\n", ".extern .global .u32 x[4];\n"}),
            "b: 'x' is a .global variable of 16 bytes here and a .global variable of 12 bytes in "
            "a");
  EXPECT_EQ(error_of({".visible .global .u32 x[3];\n", ".extern .global .u32 x[];\n"}), "linked");
  // What nothing uses may be missing.
  EXPECT_EQ(error_of({".extern .func never();\n"}), "linked");
  EXPECT_EQ(error_of({}), "there is nothing to link");
}

TEST(Link, SizesOfAddressesMustBeEqual) {
  const auto wide = parse(header);
  const auto narrow = parse(".version 7.0\n.target sm_75\n.address_size 32\n");
  const auto module =
      link_units({{"a", *wide}, {"b", *narrow}}, [](std::string_view) { return false; });
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().line(), "b: units of 32-bit and 64-bit addresses can't be linked");
}

TEST(Link, TextsAreLinkedAsOneImage) {
  const std::string missing = ".extern .func far();\n.visible .entry k()\n{\ncall far;\nret;\n}\n";
  EXPECT_TRUE(link_texts({header + missing, header + twice}));
  const Result<Module> alone = link_texts({header + missing});
  ASSERT_TRUE(alone);
  EXPECT_TRUE(*alone == *parse(header + missing));
  const Result<Module> broken = link_texts({header + missing, "nonsense"}, "image");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().where.substr(0, 6), "image:");
}

}  // namespace
}  // namespace sluice::ptx::test
