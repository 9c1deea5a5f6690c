package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"synergy.io/synergy/tests/bench/internal/child"
	"synergy.io/synergy/tests/bench/internal/fixture"
)

// bindTimeout is far above kube-scheduler's default of 5 s. On an overloaded machine a bind may
// take longer; kube-scheduler would then forget the pod while it is being bound, and give its place
// to another.
const bindTimeout = "60s"

// variant is one way to schedule. An extender runs only in its own rounds, so that no variant pays
// for another's watches.
type variant struct {
	name string
	// extender is the command to start, with {kubeconfig} and {listen}; empty if there is none.
	extender string
}

func (o *options) variants() []variant {
	return []variant{
		{"ours", o.command},
		{"echo", filepath.Join(o.programs, "echo") + " --kubeconfig {kubeconfig} --listen {listen}"},
		{"none", ""},
	}
}

func (v variant) schedulerName() string { return "bench-" + v.name }

// start starts the extender, if there is one, and then kube-scheduler. The returned function ends
// both.
func (v variant) start(o *options, round string) (stop func(), err error) {
	var extender *child.Process
	logFile := func(name string) string { return filepath.Join(o.logs, fmt.Sprintf("%s-%s.log", round, name)) }
	address := ""
	if v.extender != "" {
		if address, err = child.FreeAddress(); err != nil {
			return nil, err
		}
		command := strings.NewReplacer("{kubeconfig}", o.kubeconfig, "{listen}", address).Replace(v.extender)
		if extender, err = child.Start(v.name, logFile("extender"), strings.Fields(command)...); err != nil {
			return nil, err
		}
		if err := extender.WaitReady("http://"+address+"/readyz", time.Minute); err != nil {
			extender.Stop()
			return nil, err
		}
	}
	config := filepath.Join(o.logs, round+"-config.json")
	encoded, err := json.MarshalIndent(schedulerConfig(o.kubeconfig, v.schedulerName(), address), "", "  ")
	if err == nil {
		err = os.WriteFile(config, encoded, 0o644)
	}
	var scheduler *child.Process
	if err == nil {
		scheduler, err = child.Start("kube-scheduler", logFile("kube-scheduler"), o.kubeScheduler, "--config", config, "--secure-port=0")
	}
	if err != nil {
		extender.Stop()
		return nil, err
	}
	return func() {
		scheduler.Stop()
		extender.Stop()
	}, nil
}

// schedulerConfig returns the same configuration for all variants, except for the extender:
// kube-scheduler considers every node, fills one node after the other, and has no rate limit.
func schedulerConfig(kubeconfig, schedulerName, extender string) map[string]any {
	type list = []any
	type object = map[string]any
	config := object{
		"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
		"leaderElection":           object{"leaderElect": false},
		"clientConnection":         object{"kubeconfig": kubeconfig, "qps": 5000, "burst": 5000},
		"percentageOfNodesToScore": 100,
		"profiles": list{object{
			"schedulerName": schedulerName,
			"plugins": object{"score": object{"disabled": list{
				object{"name": "NodeResourcesBalancedAllocation"},
			}}},
			"pluginConfig": list{
				object{"name": "PodTopologySpread", "args": object{"defaultingType": "List", "defaultConstraints": list{}}},
				object{"name": "NodeResourcesFit", "args": object{"scoringStrategy": object{
					"type": "MostAllocated", "resources": list{
						object{"name": fixture.GPU, "weight": 5}, object{"name": "cpu", "weight": 1}, object{"name": "memory", "weight": 1},
					},
				}}},
			},
		}},
	}
	if extender != "" {
		config["extenders"] = list{object{
			"urlPrefix": "http://" + extender, "filterVerb": "filter", "prioritizeVerb": "prioritize", "bindVerb": "bind",
			"weight": 1000, "enableHTTPS": false, "httpTimeout": bindTimeout, "nodeCacheCapable": true, "ignorable": false,
			"managedResources": list{object{"name": fixture.GPU, "ignoredByScheduler": false}},
		}}
	}
	return config
}
