package main

import (
	"fmt"
	"log"
	"path/filepath"
	"strings"
	"time"

	"synergy.io/synergy/tests/bench/internal/call"
	"synergy.io/synergy/tests/bench/internal/child"
	"synergy.io/synergy/tests/bench/internal/fixture"
	"synergy.io/synergy/tests/bench/internal/summary"
)

// sizeResult is everything that is measured at one cluster size.
type sizeResult struct {
	Nodes int `json:"nodes"`
	Pods  int `json:"pods"`
	// Listing is how long it takes to read all pages of nodes and pods without decoding them.
	Listing summary.Milliseconds `json:"plain_listing_ms"`
	// Ready is the time from the extender's start to its first 200 at /readyz.
	Ready  summary.Milliseconds    `json:"ready_ms"`
	Memory map[string]child.Memory `json:"memory"`
	Modes  []modeResult            `json:"modes"`
}

// modeResult compares both extenders for one way to send nodes.
type modeResult struct {
	Mode         call.Mode  `json:"mode"`
	RequestBytes int        `json:"request_bytes"`
	Filter       comparison `json:"filter"`
	Prioritize   comparison `json:"prioritize"`
}

type comparison struct {
	Ours  call.Summary `json:"ours"`
	Echo  call.Summary `json:"echo"`
	Ratio ratio        `json:"ours_to_echo"`
}

// ratio is our round trip divided by echo's.
type ratio struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
}

func compare(ours, echo *call.Samples) comparison {
	c := comparison{Ours: ours.Summary(), Echo: echo.Summary()}
	c.Ratio = ratio{
		P50: float64(c.Ours.Roundtrip.P50 / c.Echo.Roundtrip.P50),
		P90: float64(c.Ours.Roundtrip.P90 / c.Echo.Roundtrip.P90),
		P99: float64(c.Ours.Roundtrip.P99 / c.Echo.Roundtrip.P99),
	}
	return c
}

// plan returns how many blocks of how many scheduling cycles each extender gets. Requests with
// whole nodes are large (6 KB per node), so there are fewer of them.
func (o *options) plan(mode call.Mode, nodes int) (blocks, cycles int) {
	switch {
	case o.quick:
		return 2, 2
	case mode != call.Nodes:
		return 10, 50
	case nodes <= 100:
		return 6, 40
	case nodes <= 1000:
		return 6, 10
	case nodes <= 5000:
		return 6, 4
	default:
		return 4, 2
	}
}

func measure(o *options, nodes int) (*sizeResult, error) {
	log.Printf("%d nodes: starting", nodes)
	result := &sizeResult{Nodes: nodes, Pods: nodes * fixture.PodsPerNode, Memory: map[string]child.Memory{}}
	logFile := func(name string) string { return filepath.Join(o.logs, fmt.Sprintf("%s-%d.log", name, nodes)) }
	kubeconfig := filepath.Join(o.logs, fmt.Sprintf("kubeconfig-%d", nodes))

	stub, err := child.Start("apistub", logFile("apistub"), filepath.Join(o.programs, "apistub"),
		"--nodes", fmt.Sprint(nodes), "--kubeconfig", kubeconfig)
	if err != nil {
		return nil, err
	}
	defer stub.Stop()
	address, err := stub.WaitListening(2 * time.Minute)
	if err != nil {
		return nil, err
	}
	if result.Listing, err = plainListing("http://" + address); err != nil {
		return nil, err
	}

	oursAddress, err := child.FreeAddress()
	if err != nil {
		return nil, err
	}
	command := strings.NewReplacer("{kubeconfig}", kubeconfig, "{listen}", oursAddress).Replace(o.command)
	started := time.Now()
	ours, err := child.Start("extender", logFile("extender"), strings.Fields(command)...)
	if err != nil {
		return nil, err
	}
	defer ours.Stop()
	if err := ours.WaitReady("http://"+oursAddress+"/readyz", time.Minute); err != nil {
		return nil, err
	}
	result.Ready = summary.Of(time.Since(started))
	if result.Memory["ready"], err = ours.Memory(); err != nil {
		return nil, err
	}

	echo, err := child.Start("echo", logFile("echo"), filepath.Join(o.programs, "echo"))
	if err != nil {
		return nil, err
	}
	defer echo.Stop()
	echoAddress, err := echo.WaitListening(10 * time.Second)
	if err != nil {
		return nil, err
	}

	for _, mode := range []call.Mode{call.Names, call.Extended, call.Nodes} {
		compared, err := alternate(o, mode, nodes, "http://"+oursAddress, "http://"+echoAddress)
		if err != nil {
			return nil, err
		}
		result.Modes = append(result.Modes, *compared)
		if result.Memory["after_"+string(mode)], err = ours.Memory(); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// alternate gives both extenders blocks of calls in turn; each block has the opposite order of the
// one before.
func alternate(o *options, mode call.Mode, nodes int, oursURL, echoURL string) (*modeResult, error) {
	request, err := call.NewRequest(mode, nodes)
	if err != nil {
		return nil, err
	}
	blocks, cycles := o.plan(mode, nodes)
	log.Printf("%d nodes, %s mode: %d blocks of %d calls of %d bytes for each", nodes, mode, blocks, cycles, request.Size())
	type side struct {
		name    string
		client  *call.Client
		samples call.Cycles
	}
	ours, echo := &side{name: "extender", client: call.NewClient(oursURL)}, &side{name: "echo", client: call.NewClient(echoURL)}
	pod := 0
	for block := -1; block < blocks; block++ {
		order := []*side{ours, echo}
		if block%2 != 0 {
			order = []*side{echo, ours}
		}
		for _, s := range order {
			samples, count := &s.samples, cycles
			if block < 0 {
				samples, count = &call.Cycles{}, min(cycles, 10)
			}
			if err := samples.Run(s.client, request, pod, count); err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			pod += count
		}
	}
	ours.client.Close()
	echo.client.Close()
	return &modeResult{
		Mode: mode, RequestBytes: request.Size(),
		Filter:     compare(&ours.samples.Filter, &echo.samples.Filter),
		Prioritize: compare(&ours.samples.Prioritize, &echo.samples.Prioritize),
	}, nil
}
