#include "megakernel/machine/machine_code.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <set>

#include <fmt/format.h>

namespace sluice::megakernel::testing {
namespace {

using Instruction = MachineCode::Instruction;

std::optional<std::string> output_of(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 4096> part{};
  while (fgets(part.data(), part.size(), pipe) != nullptr)
    text += part.data();
  if (pclose(pipe) == 0) return text;
  std::fprintf(stderr, "%s\n%s\n", command.c_str(), text.c_str());
  return std::nullopt;
}

struct Parsed {
  MachineCode code;
  std::map<std::string, size_t> labels;
};

Parsed parse(const std::string& text) {
  static const std::regex label(R"(^\s*([.$\w]+):\s*$)");
  static const std::regex line(
      R"(^\s*/\*([0-9a-f]+)\*/\s+(?:(@!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;.*$)");
  Parsed parsed;
  std::smatch match;
  std::string function;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string current = text.substr(at, end - at);
    at = end + 1;
    if (std::regex_match(current, match, label)) {
      parsed.labels[match[1]] = parsed.code.instructions.size();
      if (!match[1].str().starts_with(".")) function = match[1];
    } else if (std::regex_match(current, match, line)) {
      parsed.code.instructions.push_back(
          {std::stoull(match[1], nullptr, 16), match[2], match[3], match[4], {}, {}, function});
    }
  }
  return parsed;
}

// find_ways() fills in what follows each instruction.
void find_ways(Parsed& parsed) {
  static const std::regex target(R"(`\(([^)]+)\))");
  static const std::regex branch_target(R"(\.L_x_\w+)");
  static const std::regex second_guard(R"(^!?U?P\d.*)");
  auto& all = parsed.code.instructions;
  for (size_t i = 0; i < all.size(); ++i) {
    Instruction& here = all[i];
    std::smatch match;
    const bool has_target = std::regex_search(here.operands, match, target);
    const bool may_go_on = !here.guard.empty() || std::regex_match(here.operands, second_guard) ||
                           here.opcode.find(".DIV") != std::string::npos ||
                           here.opcode.find(".CONV") != std::string::npos;
    const bool leaves = here.is("EXIT") || here.is("RET") || here.is("BRA") || here.is("BRX");
    if ((!leaves || may_go_on) && i + 1 < all.size()) here.next.push_back(i + 1);
    if (here.is("CALL") && has_target) here.callee = match[1];
    if ((here.is("BRA") || here.is("WARPSYNC")) && has_target) {
      here.next.push_back(parsed.labels.at(match[1]));
    }
    if (!here.is("BRX")) continue;
    for (std::sregex_iterator it(here.operands.begin(), here.operands.end(), branch_target), none;
         it != none; ++it)
      here.next.push_back(parsed.labels.at(it->str()));
  }
}

// Walk visits all that may follow some instructions, not beyond where `stops` says so.
std::set<size_t> walk(const MachineCode& code, const std::vector<size_t>& from,
                      const std::function<bool(size_t)>& stops) {
  std::set<size_t> seen;
  std::vector<size_t> open = from;
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    if (!seen.insert(at).second || stops(at)) continue;
    const auto& next = code.instructions[at].next;
    open.insert(open.end(), next.begin(), next.end());
  }
  return seen;
}

// What an instruction is between lanes: it waits for those that live on, or gives what a lane that
// ends owes them.
enum class Part { none, waits, pays };

class Parts {
 public:
  Parts(const MachineCode& code, std::optional<uint32_t> words) : code_(code) {
    if (words) word_ = fmt::format("+{:#x}]", *words);
  }

  Part of(size_t at) const {
    const Instruction& here = code_.instructions[at];
    // Barrier 1 is a body's; a thread that has ended would take part with false.
    if (here.is("BAR") && here.operands.starts_with("0x1")) {
      return here.operands.ends_with("!PT") ? Part::pays : Part::waits;
    }
    // A barrier in memory: those that drop out ask for no phase to look for.
    if (here.is("SYNCS.ARRIVE") || here.is("ATOMS.ARRIVE")) {
      return here.operands.starts_with("RZ,") ? Part::pays : Part::waits;
    }
    if (word_.empty()) return Part::none;
    // A lane's word is zero where it has ended. One that stores another, or looks at words, has
    // not.
    if (here.is("LDS") && here.operands.ends_with(word_)) return Part::waits;
    if (!here.is("STS") || here.operands.find(word_) == std::string::npos) return Part::none;
    return here.operands.ends_with(", RZ") ? Part::pays : Part::waits;
  }

 private:
  const MachineCode& code_;
  std::string word_;
};

// Region is what lies between a BSSY and the BSYNC at which its lanes wait for each other.
class Region {
 public:
  Region(const MachineCode& code, const Parts& parts, size_t start)
      : code_(code), parts_(parts), start_(start) {
    const std::string& operands = code.instructions[start].operands;
    barrier_ = operands.substr(0, operands.find(','));
  }

  // is_left_late() says whether a lane may come to the region's end without having waited for
  // anybody, and pay only behind it, while others wait inside.
  bool is_left_late() const {
    const auto& first = code_.instructions[start_].next;
    const auto inside = walk(code_, first, [&](size_t i) { return is_end(i); });
    if (std::none_of(inside.begin(), inside.end(),
                     [&](size_t at) { return parts_.of(at) == Part::waits; })) {
      return false;
    }
    const auto quiet =
        walk(code_, first, [&](size_t i) { return is_end(i) || parts_.of(i) != Part::none; });
    return std::any_of(quiet.begin(), quiet.end(),
                       [&](size_t at) { return meets(at) && pays_behind(at); });
  }

 private:
  bool meets(size_t at) const {
    const Instruction& here = code_.instructions[at];
    return here.is("BSYNC") && here.operands == barrier_;
  }
  // What a lane does behind the region's end whatever it is: a branch by whether the warp is whole
  // leads to the same in either case.
  bool pays_behind(size_t at) const {
    for (;;) {
      const Instruction& here = code_.instructions[at];
      if (parts_.of(at) == Part::pays && here.guard.empty()) return true;
      if (here.next.size() != 1 && !here.is("BRA.DIV")) return false;
      if (parts_.of(at) == Part::waits) return false;
      at = here.next.front();
    }
  }
  bool is_end(size_t at) const {
    const Instruction& here = code_.instructions[at];
    return meets(at) || (here.is("BREAK") && here.guard.empty() &&
                         here.operands.find(barrier_) != std::string::npos);
  }

  const MachineCode& code_;
  const Parts& parts_;
  size_t start_;
  std::string barrier_;
};

}  // namespace

bool Instruction::is(const char* name) const {
  return opcode == name || opcode.starts_with(std::string(name) + ".");
}

bool has_disassembler() {
  return *SLUICE_NVDISASM != '\0';
}

std::optional<MachineCode> disassemble(const std::string& ptx_file, unsigned architecture) {
  const std::string binary = fmt::format("{}.sm_{}.cubin", ptx_file, architecture);
  const auto assembled = output_of(
      fmt::format("{} -arch=sm_{} -o '{}' '{}'", SLUICE_PTXAS, architecture, binary, ptx_file));
  const auto text =
      assembled ? output_of(fmt::format("{} -c '{}'", SLUICE_NVDISASM, binary)) : std::nullopt;
  std::remove(binary.c_str());
  if (!text) return std::nullopt;
  Parsed parsed = parse(*text);
  find_ways(parsed);
  return std::move(parsed.code);
}

std::vector<std::string> late_debts(const MachineCode& code, std::optional<uint32_t> words) {
  const Parts parts(code, words);
  std::vector<std::string> found;
  for (size_t i = 0; i < code.instructions.size(); ++i) {
    if (!code.instructions[i].is("BSSY") || !Region(code, parts, i).is_left_late()) continue;
    found.push_back(
        fmt::format("{}: lanes that ended are late where a region that begins at {:#x} ends",
                    code.instructions[i].function, code.instructions[i].address));
  }
  return found;
}

}  // namespace sluice::megakernel::testing
