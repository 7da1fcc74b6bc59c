// docs/journal.md lists what each record holds: exactly what is declared of it.
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dro/journal/journal_format.hpp"

namespace sluice::dro {
namespace {

using Names = std::set<std::string>;

// Declared collects the names of a type's members; those of alternatives apart.
struct Declared {
  Names all, of_alternatives;

  template <class T>
  void operator()(const char* name, T&&) {
    all.insert(name);
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value) {
    all.insert(name);
    value.emplace();  // what depends on it comes too
  }
  template <class T>
  void unless_empty(const char* name, T&) {
    all.insert(name);
  }
  template <class T>
  void alternative(const char* name, T&) {
    all.insert(name);
  }
  template <class... T>
  void of_alternative(std::variant<T...>&) {
    (add_alternative<T>(), ...);
  }
  template <class T>
  void add_alternative() {
    T value;
    Declared inner;
    members<T>(value, inner);
    of_alternatives.insert(inner.all.begin(), inner.all.end());
    of_alternatives.insert(std::string(T::kind));
  }
};

// names_in() are the words between backquotes.
Names names_in(const std::string& text) {
  static const std::regex quoted("`([a-z_]+)`");
  Names names;
  for (std::sregex_iterator it(text.begin(), text.end(), quoted), end; it != end; ++it)
    names.insert((*it)[1]);
  return names;
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t place = text.find(begin);
  if (place == std::string::npos) return {};
  const size_t from = place + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

class JournalDocs : public ::testing::Test {
 protected:
  template <class Kind>
  void expect_described() const {
    const std::string kind(Kind::kind);
    SCOPED_TRACE(kind);
    Kind record;
    Declared declared;
    members<Kind>(record, declared);
    const std::string row = between(page_, "\n| `" + kind + "` | ", " | ");
    EXPECT_EQ(names_in(row), declared.all);
    const Names paragraph = names_in(between(page_, "\n**" + kind + ".**", "\n\n"));
    for (const std::string& name : declared.of_alternatives)
      EXPECT_TRUE(paragraph.contains(name)) << name;
  }
  template <class... Kinds>
  void expect_each_described(const std::variant<Kinds...>*) const {
    (expect_described<Kinds>(), ...);
  }

  std::ifstream file_{std::string(SLUICE_DOCS) + "/journal.md"};
  const std::string page_{std::istreambuf_iterator<char>(file_), {}};
};

TEST_F(JournalDocs, ListEachMemberOfEachRecord) {
  expect_each_described(static_cast<const Record*>(nullptr));
}

TEST_F(JournalDocs, ListNoOtherRecord) {
  const std::regex row("\n\\| `([a-z_]+)` \\| ");
  const std::string records = between(page_, "\n## Records\n", "\n## ");
  for (std::sregex_iterator it(records.begin(), records.end(), row), end; it != end; ++it) {
    Record record;
    EXPECT_TRUE(emplace_kind(record, (*it)[1].str())) << (*it)[1];
  }
}

}  // namespace
}  // namespace sluice::dro
