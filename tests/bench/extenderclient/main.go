// Command extenderclient calls one scheduler extender as kube-scheduler does, checks its answers,
// and prints how long they took. The extender has to know the nodes of the benchmarks' fixture,
// which apistub serves.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"

	"synergy.io/synergy/tests/bench/internal/call"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("extenderclient: ")
	url := flag.String("url", "", "the extender's URL prefix, for instance http://127.0.0.1:8888")
	nodes := flag.Int("nodes", 1000, "number of nodes to offer")
	mode := flag.String("mode", "names", "what to send of the nodes: names (nodeCacheCapable) or nodes")
	calls := flag.Int("calls", 200, "number of filter calls, and as many prioritize calls")
	warmUp := flag.Int("warm-up", 5, "calls before those that count")
	flag.Parse()
	if *url == "" || (*mode != string(call.Names) && *mode != string(call.Nodes)) {
		flag.Usage()
		os.Exit(2)
	}
	request, err := call.NewRequest(call.Mode(*mode), *nodes)
	if err != nil {
		log.Fatal(err)
	}
	client := call.NewClient(*url)
	defer client.Close()
	var ignored, cycles call.Cycles
	if err := ignored.Run(client, request, 0, *warmUp); err != nil {
		log.Fatal(err)
	}
	if err := cycles.Run(client, request, *warmUp, *calls); err != nil {
		log.Fatal(err)
	}
	report, err := json.MarshalIndent(map[string]any{
		"mode": *mode, "nodes": *nodes, "request_bytes": request.Size(),
		"filter": cycles.Filter.Summary(), "prioritize": cycles.Prioritize.Summary(),
	}, "", "  ")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(report))
}
