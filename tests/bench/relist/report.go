package main

import (
	"fmt"
	"os"

	"synergy.io/synergy/tests/bench/internal/summary"
)

// goals compares the phases in which something happens with the quiet one.
func goals(phases []phase) []summary.Goal {
	list := []summary.Goal{}
	for _, kind := range []string{answered, service, reviewed} {
		quietP99 := phases[0].Calls[kind].P99
		for _, p := range phases {
			calls, made := p.Calls[kind]
			if made && (p.Name == events || p.Name == relists) {
				list = append(list, summary.AtMost(fmt.Sprintf("%s: p99 with %s, to quiet", kind, p.Name), float64(calls.P99/quietP99), 3))
			}
		}
	}
	return list
}

func (r *report) print() {
	fmt.Printf("%d nodes, %d pods, %d events a second\n", r.Nodes, r.Pods, r.Events)
	for _, p := range r.Programs {
		fmt.Printf("%s: ready after %.0f ms, %.0f MiB resident, %.0f MiB at most, relists in %.0f ms\n",
			p.Name, p.Ready, p.Memory.ResidentMiB, p.Memory.PeakMiB, p.Relists)
	}
	rows := [][]string{}
	for _, kind := range []string{answered, refused, service, reviewed} {
		for _, program := range r.Programs {
			for _, p := range program.Phases {
				l, made := p.Calls[kind]
				if made {
					rows = append(rows, []string{
						kind, p.Name, fmt.Sprint(l.Count), fmt.Sprintf("%.2f", l.P50), fmt.Sprintf("%.2f", l.P90), fmt.Sprintf("%.2f", l.P99), fmt.Sprintf("%.2f", l.Max),
					})
				}
			}
		}
	}
	summary.Table(os.Stdout, "Round trips in ms", []string{"call", "meanwhile", "calls", "p50", "p90", "p99", "max"}, rows)
}
