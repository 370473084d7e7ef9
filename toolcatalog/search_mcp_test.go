package toolcatalog_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/cellmode/cellmode/internal/schematest"
	"github.com/cellmode/cellmode/toolcatalog"
)

// mcpTools are the tools of real MCP servers.
func mcpTools(t testing.TB) []*toolcatalog.Tool {
	t.Helper()
	servers := schematest.MCPTools(t)
	var tools []*toolcatalog.Tool
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		for _, tool := range servers[server] {
			tools = append(tools, rawTool(toolcatalog.Spec{
				Name:        tool.Name,
				Label:       tool.Title,
				Description: tool.Description,
				Input:       mustParse(t, string(tool.InputSchema)),
			}))
		}
	}
	return tools
}
