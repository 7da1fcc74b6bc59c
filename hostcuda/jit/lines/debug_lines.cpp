#include "hostcuda/jit/lines/debug_lines.hpp"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>

#include "base/demangle.hpp"
#include "ptx/lift.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

DIFile* file_of(DIBuilder& builder, const std::string& path) {
  const std::filesystem::path whole = path;
  return builder.createFile(whole.filename().string(), whole.parent_path().string());
}

DISubprogram* subprogram(DIBuilder& builder, DIFile* file, const std::string& name, unsigned line) {
  DISubroutineType* type = builder.createSubroutineType(builder.getOrCreateTypeArray({}));
  return builder.createFunction(file, name, "", file, line, type, line, DINode::FlagZero,
                                DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized);
}

DICompileUnit* unit_of(DIBuilder& builder, DIFile* file) {
  return builder.createCompileUnit(dwarf::DW_LANG_C_plus_plus, file, "Sluice", true, "", 0);
}

unsigned first_line(const Function& function) {
  unsigned first = 0;
  for (const Instruction& instruction : instructions(function)) {
    const DebugLoc& place = instruction.getDebugLoc();
    if (place && place.getLine() != 0 && (first == 0 || place.getLine() < first))
      first = place.getLine();
  }
  return first;
}

}  // namespace

bool are_lines_wanted() {
  static const bool wanted = [] {
    const char* const text = std::getenv("SLUICE_CODE_LINES");
    return text != nullptr && std::string_view(text) != "" && std::string_view(text) != "0";
  }();
  return wanted;
}

void note_lines(const ThreadFunction& thread, const ptx::SourceLines& lines) {
  if (lines.empty()) return;
  Function& function = *thread.function;
  DIBuilder builder(*function.getParent());
  DIFile* const main_file = file_of(builder, lines.file());
  unit_of(builder, main_file);
  // Only a scope for the time being: the function itself ends before the code is made.
  DISubprogram* const scope = subprogram(builder, main_file, function.getName().str(), 0);
  std::map<std::string, DIScope*> files = {{lines.file(), scope}};
  for (Instruction& instruction : instructions(function)) {
    const auto place = lines.at(ptx::source_line(instruction));
    if (!place) continue;
    DIScope*& file = files[place->user_file()];
    if (file == nullptr)
      file = builder.createLexicalBlockFile(scope, file_of(builder, place->user_file()));
    instruction.setDebugLoc(DILocation::get(function.getContext(), place->user_line(), 0, file));
  }
  builder.finalize();
}

void settle_lines(Module& module, const std::string& kernel, const ptx::SourceLines& lines) {
  if (NamedMDNode* units = module.getNamedMetadata("llvm.dbg.cu")) units->eraseFromParent();
  if (lines.empty()) return;
  module.addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
  DIBuilder builder(module);
  DIFile* const main_file = file_of(builder, lines.file());
  unit_of(builder, main_file);
  for (Function& function : module) {
    const unsigned first = first_line(function);
    if (first == 0) continue;
    DISubprogram* const own = subprogram(builder, main_file, short_name(kernel), first);
    std::map<DIFile*, DIScope*> files = {{main_file, own}};
    for (Instruction& instruction : instructions(function)) {
      const DebugLoc place = instruction.getDebugLoc();
      DIFile* const file = place ? cast<DIScope>(place.getScope())->getFile() : main_file;
      DIScope*& scope = files[file];
      if (scope == nullptr) scope = builder.createLexicalBlockFile(own, file);
      instruction.setDebugLoc(
          DILocation::get(function.getContext(), place ? place.getLine() : 0, 0, scope));
    }
    function.setSubprogram(own);
  }
  builder.finalize();
}

}  // namespace sluice::hostcuda::jit
