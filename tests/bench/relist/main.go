// Command relist measures the scheduler extender's filter and the controller's reviews while the
// pods of a large cluster change, and while all of them have to be listed again because the watch
// is too old. It compares each phase's times with those of the run's quiet phase.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"synergy.io/synergy/tests/bench/internal/child"
	"synergy.io/synergy/tests/bench/internal/fixture"
	"synergy.io/synergy/tests/bench/internal/review"
	"synergy.io/synergy/tests/bench/internal/summary"
)

type options struct {
	programs  string
	binaries  string
	nodes     int
	pods      int
	events    int
	relists   int
	phase     time.Duration
	pagePause time.Duration
}

// report is everything that is measured.
type report struct {
	Nodes    int            `json:"nodes"`
	Pods     int            `json:"pods"`
	Events   int            `json:"events_per_second"`
	Programs []program      `json:"programs"`
	Goals    []summary.Goal `json:"goals"`
}

// program is a program that has a copy of the pods.
type program struct {
	Name   string               `json:"name"`
	Ready  summary.Milliseconds `json:"ready_ms"`
	Memory child.Memory         `json:"memory"`
	measurement
}

func main() {
	log.SetFlags(log.Ltime)
	var o options
	flag.StringVar(&o.programs, "programs", "build/bench", "folder with the built apistub")
	flag.StringVar(&o.binaries, "binaries", "build/release/bin", "folder with the programs to measure")
	flag.IntVar(&o.nodes, "nodes", 5000, "nodes of the cluster")
	flag.IntVar(&o.pods, "pods", 150_000, "bound pods of the cluster")
	flag.IntVar(&o.events, "events", 1000, "pod events per second")
	flag.IntVar(&o.relists, "relists", 8, "how many times all pods are listed again")
	flag.DurationVar(&o.phase, "phase", 20*time.Second, "how long the phases without relists last")
	flag.DurationVar(&o.pagePause, "page-pause", 0, "how long a page of 500 objects takes beyond its bytes")
	jsonFile := flag.String("json", "", "write all figures to this file")
	flag.Parse()
	result, err := run(&o)
	if err != nil {
		log.Fatal(err)
	}
	result.print()
	missed := summary.PrintGoals(os.Stdout, result.Goals)
	if *jsonFile != "" {
		if err := summary.WriteJSON(*jsonFile, result); err != nil {
			log.Fatal(err)
		}
	}
	if missed > 0 {
		os.Exit(1)
	}
}

func run(o *options) (*report, error) {
	folder, err := os.MkdirTemp("", "synergy-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	kubeconfig := filepath.Join(folder, "kubeconfig")
	services := max(0, o.pods/o.nodes-fixture.PodsPerNode)
	stub, err := child.Start("apistub", filepath.Join(folder, "apistub.log"), filepath.Join(o.programs, "apistub"), "--nodes", fmt.Sprint(o.nodes),
		"--services", fmt.Sprint(services), "--page-pause", o.pagePause.String(), "--kubeconfig", kubeconfig)
	if err != nil {
		return nil, err
	}
	defer stub.Stop()
	api, err := stub.WaitListening(5 * time.Minute)
	if err != nil {
		return nil, err
	}
	result := &report{Nodes: o.nodes, Pods: o.nodes * (services + fixture.PodsPerNode), Events: o.events}
	for _, measure := range []func(*options, string, string) (*program, error){measureExtender, measureController} {
		measured, err := measure(o, folder, "http://"+api)
		if err != nil {
			return nil, err
		}
		result.Programs = append(result.Programs, *measured)
		result.Goals = append(result.Goals, goals(measured.Phases)...)
	}
	return result, nil
}

func measureExtender(o *options, folder, api string) (*program, error) {
	listen, err := child.FreeAddress()
	if err != nil {
		return nil, err
	}
	ask, err := filters("http://"+listen, o.nodes)
	if err != nil {
		return nil, err
	}
	return measure(o, folder, api, "synergy-extender", "http://"+listen, ask, "--listen", listen)
}

func measureController(o *options, folder, api string) (*program, error) {
	webhook, err := child.FreeAddress()
	if err != nil {
		return nil, err
	}
	plain, err := child.FreeAddress()
	if err != nil {
		return nil, err
	}
	authority, err := review.WriteCertificate(folder)
	if err != nil {
		return nil, err
	}
	return measure(o, folder, api, "synergy-controller", "http://"+plain, reviews("https://"+webhook+"/mutate-pod", authority), "--listen", webhook,
		"--http-listen", plain, "--tls-cert-file", filepath.Join(folder, "tls.crt"), "--tls-private-key-file", filepath.Join(folder, "tls.key"))
}

// measure runs one program. `probes` is the URL of its health checks.
func measure(o *options, folder, api, name, probes string, ask caller, arguments ...string) (*program, error) {
	log.Print(name)
	started := time.Now()
	command := append([]string{filepath.Join(o.binaries, name), "--kubeconfig", filepath.Join(folder, "kubeconfig")}, arguments...)
	process, err := child.Start(name, filepath.Join(folder, name+".log"), command...)
	if err != nil {
		return nil, err
	}
	defer process.Stop()
	if err := process.WaitReady(probes+"/readyz", 5*time.Minute); err != nil {
		return nil, err
	}
	result := &program{Name: name, Ready: summary.Of(time.Since(started)), measurement: measurement{options: o, api: api, call: ask}}
	if err := result.run(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	result.Memory, err = process.Memory()
	return result, err
}
