// Command requests answers how much a pod on a node counts for, by the formula of the Kubernetes version whose module it is
// built with: once as the version has it, once with resizes of pod-level resources on. docs/internals/accounting.md says which version
// counts what.
//
//	requests < pods > answers
//
// Pods and answers are JSON, one object per line. An answer has two resource lists, "container" and "pod".
package main

import (
	"bufio"
	"encoding/json"
	"io"
	"log"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

func main() {
	pods, answers := json.NewDecoder(bufio.NewReader(os.Stdin)), bufio.NewWriter(os.Stdout)
	for {
		var pod v1.Pod
		if err := pods.Decode(&pod); err == io.EOF {
			break
		} else if err != nil {
			log.Fatal("requests: ", err)
		}
		line, err := json.Marshal(map[string]v1.ResourceList{"container": requests(&pod, false), "pod": requests(&pod, true)})
		if err != nil {
			log.Fatal("requests: ", err)
		}
		answers.Write(append(line, '\n'))
	}
	if err := answers.Flush(); err != nil {
		log.Fatal("requests: ", err)
	}
}

func requests(pod *v1.Pod, podLevel bool) v1.ResourceList {
	return resource.PodRequests(pod, resource.PodResourcesOptions{
		UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: podLevel,
	})
}
