// Graphviz's layout, by the program `dot`.
#pragma once

#include <string>

#include "base/result.hpp"

namespace sluice::tools {

// draw_graph() is a graph in Graphviz's language as an <svg> element. An error where `dot` is not
// in PATH or does not take the graph.
Result<std::string> draw_graph(const std::string& graph);

}  // namespace sluice::tools
