package main

import (
	"fmt"
	"io"

	"synergy.io/synergy/tests/bench/internal/call"
	"synergy.io/synergy/tests/bench/internal/summary"
)

type report struct {
	Sizes []*sizeResult  `json:"sizes"`
	Goals []summary.Goal `json:"goals"`
}

func (r *report) print(out io.Writer) {
	titles := map[call.Mode]string{
		call.Names: "node names", call.Extended: "node names, and a pod that asks for four extended resources", call.Nodes: "whole nodes",
	}
	for _, mode := range []call.Mode{call.Names, call.Extended, call.Nodes} {
		rows := [][]string{}
		for _, size := range r.Sizes {
			for _, result := range size.Modes {
				if result.Mode == mode {
					rows = append(rows, row(size.Nodes, "filter", result.Filter), row(size.Nodes, "prioritize", result.Prioritize))
				}
			}
		}
		summary.Table(out, fmt.Sprintf("Calls with %s: round trip in ms (with decoding)", titles[mode]),
			[]string{"nodes", "verb", "calls", "ours p50", "p90", "p99", "echo p50", "p90", "p99", "ours/echo p50", "p90", "p99"}, rows)
	}
	rows := [][]string{}
	for _, size := range r.Sizes {
		names, all := size.Memory["after_names"], size.Memory["after_nodes"]
		rows = append(rows, []string{
			fmt.Sprint(size.Nodes), fmt.Sprint(size.Pods), fmt.Sprintf("%.0f", size.Listing), fmt.Sprintf("%.0f", size.Ready),
			fmt.Sprintf("%.1f", size.Memory["ready"].ResidentMiB), fmt.Sprintf("%.1f", names.ResidentMiB), fmt.Sprintf("%.1f", names.PeakMiB),
			fmt.Sprintf("%.1f", all.ResidentMiB), fmt.Sprintf("%.1f", all.PeakMiB),
		})
	}
	summary.Table(out, "Start (ms) and memory (MiB)", []string{
		"nodes", "pods", "plain listing", "ready", "resident when ready", "after names", "peak", "after nodes", "peak",
	}, rows)
}

func row(nodes int, verb string, c comparison) []string {
	cells := []string{fmt.Sprint(nodes), verb, fmt.Sprint(c.Ours.Roundtrip.Count)}
	for _, side := range []call.Summary{c.Ours, c.Echo} {
		cells = append(cells, fmt.Sprintf("%.3f (%.3f)", side.Roundtrip.P50, side.WithDecode.P50),
			fmt.Sprintf("%.3f", side.Roundtrip.P90), fmt.Sprintf("%.3f", side.Roundtrip.P99))
	}
	return append(cells, fmt.Sprintf("%.2f", c.Ratio.P50), fmt.Sprintf("%.2f", c.Ratio.P90), fmt.Sprintf("%.2f", c.Ratio.P99))
}

// goals returns the goals for 5000 nodes with 20,000 pods and for the growth beyond that. A size
// that was not measured has none.
func goals(sizes []*sizeResult) []summary.Goal {
	list := []summary.Goal{}
	at := map[int]map[call.Mode]modeResult{}
	for _, size := range sizes {
		at[size.Nodes] = map[call.Mode]modeResult{}
		for _, mode := range size.Modes {
			at[size.Nodes][mode.Mode] = mode
		}
		if size.Nodes != 5000 {
			continue
		}
		names, extended, nodes := at[5000][call.Names], at[5000][call.Extended], at[5000][call.Nodes]
		list = append(list,
			summary.AtMost("5000 nodes, names: filter p50, ours/echo", names.Filter.Ratio.P50, 0.5),
			summary.AtMost("5000 nodes, names: prioritize p50, ours/echo", names.Prioritize.Ratio.P50, 0.6),
			summary.AtMost("5000 nodes, names: filter p99, ours/echo", names.Filter.Ratio.P99, 1),
			summary.AtMost("5000 nodes, names: prioritize p99, ours/echo", names.Prioritize.Ratio.P99, 1),
			summary.AtMost("5000 nodes, four extended resources: filter p50, ours/echo", extended.Filter.Ratio.P50, 0.5),
			summary.AtMost("5000 nodes, four extended resources: prioritize p50, ours/echo", extended.Prioritize.Ratio.P50, 0.6),
			summary.AtMost("5000 nodes, nodes: filter p50, ours/echo", nodes.Filter.Ratio.P50, 0.5),
			summary.AtMost("5000 nodes, nodes: prioritize p50, ours/echo", nodes.Prioritize.Ratio.P50, 0.5),
			summary.AtMost("5000 nodes, names: resident MiB", size.Memory["after_names"].ResidentMiB, 128),
			summary.AtMost("5000 nodes: ready after plain listing, s", float64(size.Ready-size.Listing)/1000, 2),
		)
	}
	small, large := at[5000], at[15000]
	if small != nil && large != nil {
		grown := func(verb string, pick func(modeResult) comparison) summary.Goal {
			return summary.AtMost("names: "+verb+" p50, 15000/5000 nodes",
				float64(pick(large[call.Names]).Ours.Roundtrip.P50/pick(small[call.Names]).Ours.Roundtrip.P50), 3.3)
		}
		list = append(list,
			grown("filter", func(m modeResult) comparison { return m.Filter }),
			grown("prioritize", func(m modeResult) comparison { return m.Prioritize }))
	}
	return list
}
