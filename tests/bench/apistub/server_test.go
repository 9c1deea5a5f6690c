package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"synergy.io/synergy/tests/bench/internal/fixture"
)

func start(t *testing.T, nodes int) string {
	t.Helper()
	server := httptest.NewServer(newServer(nodes, 0).handler())
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func getInto(t *testing.T, url string, result any) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", url, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(result); err != nil {
		t.Fatal(err)
	}
}

func post(t *testing.T, url string, body any) int {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(url, "application/json", strings.NewReader(string(encoded)))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func TestPagesTogetherAreTheWholeList(t *testing.T) {
	url := start(t, 5)
	names := map[string]bool{}
	token, pages := "", 0
	for {
		var list v1.PodList
		getInto(t, fmt.Sprintf("%s/api/v1/pods?limit=7&continue=%s", url, token), &list)
		pages++
		for _, pod := range list.Items {
			names[pod.Name] = true
		}
		if token = list.Continue; token == "" {
			break
		}
	}
	if pages != 3 || len(names) != 5*fixture.PodsPerNode {
		t.Errorf("%d pods on %d pages", len(names), pages)
	}
	var nodes v1.NodeList
	getInto(t, url+"/api/v1/nodes", &nodes)
	if len(nodes.Items) != 5 || len(nodes.Items[0].ManagedFields) == 0 {
		t.Errorf("%d nodes, or no managedFields", len(nodes.Items))
	}
}

func TestABindingIsSeenByAWatchFromTheListOn(t *testing.T) {
	url := start(t, 1)
	pod := fixture.IncomingPod(1)
	if code := post(t, url+"/api/v1/namespaces/training/pods", pod); code != http.StatusCreated {
		t.Fatalf("create answered %d", code)
	}
	var list v1.PodList
	getInto(t, url+"/api/v1/pods", &list)
	response, err := http.Get(url + "/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=" + list.ResourceVersion)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()

	binding := url + "/api/v1/namespaces/training/pods/" + pod.Name + "/binding"
	target := v1.Binding{Target: v1.ObjectReference{Kind: "Node", Name: fixture.NodeName(0)}}
	if code := post(t, binding, target); code != http.StatusCreated {
		t.Errorf("binding answered %d", code)
	}
	if code := post(t, binding, target); code != http.StatusConflict {
		t.Errorf("binding again answered %d", code)
	}
	line, err := bufio.NewReader(response.Body).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var event struct {
		Type   string
		Object v1.Pod
	}
	if err := json.Unmarshal(line, &event); err != nil {
		t.Fatal(err)
	}
	if event.Type != "MODIFIED" || event.Object.Kind != "Pod" || event.Object.Name != pod.Name || event.Object.Spec.NodeName != fixture.NodeName(0) {
		t.Errorf("the first event is %.300s", line)
	}
}

func TestAWatchThatIsTooOldIsToldSo(t *testing.T) {
	server := newServer(1, 1)
	front := httptest.NewServer(server.handler())
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	watch := func(version string) *http.Response {
		response, err := http.Get(front.URL + "/api/v1/pods?watch=1&resourceVersion=" + version)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	var before, after v1.PodList
	getInto(t, front.URL+"/api/v1/pods", &before)
	if len(before.Items) != fixture.PodsPerNode+1 {
		t.Errorf("%d pods", len(before.Items))
	}
	open := watch(before.ResourceVersion)
	var reopened <-chan struct{}
	server.change(func(version int64) { reopened = server.pods.forget(version) })
	if rest, err := io.ReadAll(open.Body); err != nil || len(rest) > 0 {
		t.Errorf("the watch ended with %q, %v", rest, err)
	}
	if code := watch(before.ResourceVersion).StatusCode; code != http.StatusGone {
		t.Errorf("it was opened again with %d", code)
	}
	getInto(t, front.URL+"/api/v1/pods", &after)
	if code := watch(after.ResourceVersion).StatusCode; code != http.StatusOK {
		t.Errorf("after another list it was opened with %d", code)
	}
	<-reopened
}

func TestPodsComeChangeAndGo(t *testing.T) {
	server := newServer(1, 0)
	front := httptest.NewServer(server.handler())
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	go server.churn()
	request, err := http.NewRequest(http.MethodPut, front.URL+"/stub/events/1000", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.DefaultClient.Do(request); err != nil {
		t.Fatal(err)
	}
	response, err := http.Get(front.URL + "/api/v1/pods?watch=1&resourceVersion=0")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines, kinds, last := bufio.NewReader(response.Body), map[string]int{}, ""
	for kinds["DELETED"] == 0 {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var event struct {
			Type   string
			Object v1.Pod
		}
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatal(err)
		}
		if event.Object.ResourceVersion <= last {
			t.Errorf("version %s after %s", event.Object.ResourceVersion, last)
		}
		last = event.Object.ResourceVersion
		kinds[event.Type]++
	}
	if kinds["ADDED"] != 1 || kinds["MODIFIED"] == 0 {
		t.Errorf("%v", kinds)
	}
}
