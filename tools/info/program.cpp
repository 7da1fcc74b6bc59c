#include "tools/info/program.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include <unistd.h>

#include "base/file/elf.hpp"
#include "base/file/mapped_file.hpp"
#include "interpose/driver/gpu_libraries.hpp"
#include "interpose/driver/program_file.hpp"
#include "ptx/fat_binary.hpp"
#include "tools/find_program.hpp"

namespace sluice::tools {
namespace {

// Names of libraries up to ".so".
constexpr std::array tool_libraries = {"libnvrtc", "libnvJitLink", "libcupti", "libnvToolsExt",
                                       "libnvvm"};
constexpr std::array interpreters = {"python", "perl", "ruby", "node",   "julia", "bash",
                                     "dash",   "sh",   "lua",  "octave", "java",  "Rscript"};

// What the dynamic linker reads of a file.
struct Dynamic {
  std::vector<std::string> needed;
  bool is_position_independent_program = false;
};

std::optional<Dynamic> dynamic_of(const std::vector<ElfSection>& sections) {
  for (const ElfSection& section : sections) {
    if (section.header.sh_type != SHT_DYNAMIC) continue;
    Dynamic dynamic;
    const size_t link = section.header.sh_link;
    const Bytes names = link < sections.size() ? sections[link].bytes : Bytes{};
    for (size_t at = 0;; at += sizeof(Elf64_Dyn)) {
      const auto entry = read_field<Elf64_Dyn>(section.bytes, at);
      if (!entry || entry->d_tag == DT_NULL) return dynamic;
      if (entry->d_tag == DT_FLAGS_1) {
        dynamic.is_position_independent_program = (entry->d_un.d_val & DF_1_PIE) != 0;
      }
      if (entry->d_tag != DT_NEEDED || entry->d_un.d_val >= names.size()) continue;
      const auto* name = reinterpret_cast<const char*>(names.data()) + entry->d_un.d_val;
      dynamic.needed.emplace_back(name, strnlen(name, names.size() - entry->d_un.d_val));
    }
  }
  return std::nullopt;
}

Program::Kind kind_of(const Elf64_Ehdr& header, const std::vector<ElfSection>& sections,
                      const std::optional<Dynamic>& dynamic) {
  if (header.e_machine != EM_X86_64) return Program::Kind::foreign;
  const bool has_interpreter = find_section(sections, ".interp") != nullptr;
  if (has_interpreter) return Program::Kind::program;
  const bool is_program =
      header.e_type == ET_EXEC || (dynamic && dynamic->is_position_independent_program);
  if (is_program) return Program::Kind::static_program;
  return header.e_type == ET_DYN ? Program::Kind::library : Program::Kind::other;
}

// version_of() is "9.0" of PTX that says ".version 9.0".
std::string version_of(const std::string& ptx) {
  constexpr std::string_view before = ".version ";
  const size_t begin = ptx.find(before);
  if (begin == std::string::npos) return {};
  const size_t number = begin + before.size();
  return ptx.substr(number, ptx.find_first_not_of("0123456789.", number) - number);
}

void add_part(std::vector<CodePart>& parts, const CodePart& part) {
  const auto same = std::ranges::find_if(parts, [&](const CodePart& other) {
    return other.is_ptx == part.is_ptx && other.architecture == part.architecture &&
           other.is_compressed == part.is_compressed;
  });
  if (same == parts.end()) {
    parts.push_back(part);
  } else {
    ++same->images;
  }
}

void take_code(Program& program, const std::vector<ptx::CodeImage>& images) {
  for (const ptx::CodeImage& image : images) {
    bool has_code = false, lacks_ptx = false;
    std::vector<CodePart> parts;  // each counts once an image
    for (const std::vector<ptx::CodeEntry>& unit : image.units) {
      bool has_ptx = false;
      for (const ptx::CodeEntry& entry : unit) {
        const bool is_ptx = entry.kind == ptx::CodeEntry::Kind::ptx;
        has_ptx |= is_ptx;
        add_part(parts, {is_ptx, entry.architecture, 1, entry.is_compressed});
        if (program.ptx_version.empty()) program.ptx_version = version_of(entry.ptx);
      }
      has_code |= !unit.empty();
      lacks_ptx |= !unit.empty() && !has_ptx;
    }
    program.images += has_code ? 1 : 0;
    program.images_without_ptx += lacks_ptx ? 1 : 0;
    for (CodePart& part : parts) {
      part.images = 1;
      add_part(program.code, part);
    }
  }
}

void take_libraries(Program& program, const std::vector<std::string>& needed) {
  for (const std::string& name : needed) {
    const auto names = [&](const char* known) { return interpose::is_library_named(name, known); };
    if (interpose::is_library_named(name, "libcudart")) {
      program.runtime = Program::Runtime::shared;
      program.cudart = name;
    } else if (interpose::is_library_named(name, "libcuda")) {
      program.uses_driver = true;
    } else if (interpose::needs_gpu(name) || std::ranges::any_of(tool_libraries, names)) {
      program.libraries.push_back(name);
    }
  }
}

bool is_interpreter(const std::string& path) {
  std::error_code error;
  const std::string name = std::filesystem::canonical(path, error).filename().string();
  return std::ranges::any_of(interpreters, [&](std::string_view known) {
    return name.starts_with(known) &&
           name.find_first_not_of("0123456789.", known.size()) == std::string::npos;
  });
}

// interpreter_of() is "python3" of "#!/usr/bin/env -S python3 -u".
std::string interpreter_of(std::string_view script) {
  std::istringstream words(std::string(script.substr(2, script.find('\n') - 2)));
  std::string word;
  words >> word;
  if (!word.ends_with("/env")) return word;
  while (words >> word && (word.starts_with('-') || word.find('=') != std::string::npos)) {
  }
  return word;
}

void take_elf(Program& program, const Elf64_Ehdr& header, Bytes bytes) {
  const auto sections = elf_sections(bytes);
  if (!sections) {
    program.damage = "its section table is missing or damaged";
    program.kind = Program::Kind::foreign;
    if (header.e_machine == EM_X86_64) program.kind = Program::Kind::program;
    return;
  }
  const std::optional<Dynamic> dynamic = dynamic_of(*sections);
  program.kind = kind_of(header, *sections, dynamic);
  if (dynamic) take_libraries(program, dynamic->needed);
  const Result<interpose::ProgramFile> file =
      interpose::inspect_program(program.path, cpu_folder());
  if (!file || !file->has_static_cuda_runtime) return;
  program.runtime = Program::Runtime::fixed;
  program.obstacle = file->obstacle;
}

}  // namespace

std::optional<int> cuda_of(const std::string& ptx_version) {
  const int version = std::atoi(ptx_version.c_str());
  return version >= 7 ? std::optional(version + 4) : std::nullopt;
}

Result<Program> read_program(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  const Bytes bytes = file->bytes();
  Program program;
  program.path = path;
  program.may_be_run = access(path.c_str(), X_OK) == 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto header = elf64_header(bytes);
  if (header) take_elf(program, *header, bytes);
  if (!header && is_elf(bytes)) program.kind = Program::Kind::foreign;
  if (!header && text.starts_with("#!")) {
    program.kind = Program::Kind::script;
    program.interpreter = interpreter_of(text);
    return program;
  }
  const Result<std::vector<ptx::CodeImage>> images = ptx::read_file(path);
  if (images) {
    take_code(program, *images);
    constexpr uint16_t machine_cuda = 190;  // of a cubin
    if (!is_elf(bytes) || (header && header->e_machine == machine_cuda)) {
      program.kind = Program::Kind::device_code;
    }
  } else if (program.runtime != Program::Runtime::none && header) {
    const bool is_only_absent = images.error().what.find("no CUDA code") != std::string::npos;
    if (!is_only_absent) program.damage = images.error().what;
  }
  program.is_interpreter =
      program.kind == Program::Kind::program && !program.uses_cuda() && is_interpreter(path);
  return program;
}

}  // namespace sluice::tools
