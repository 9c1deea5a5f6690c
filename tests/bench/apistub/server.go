package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"

	"synergy.io/synergy/tests/bench/internal/fixture"
)

type server struct {
	// mutex makes a new version and its event a single step: code that reads the version has missed no
	// event up to it.
	mutex      sync.Mutex
	version    int64
	nodes      *collection
	pods       *collection
	budgets    *collection
	namespaces *collection
	profiles   *collection
	ranges     *collection
	quotas     *collection

	pagePause time.Duration
	churnRate atomic.Int64 // events per second
}

func newServer(nodeCount, servicesPerNode int) *server {
	s := &server{
		nodes:   newCollection("Node", "v1"),
		pods:    newCollection("Pod", "v1"),
		budgets: newCollection("PodDisruptionBudget", "policy/v1"),

		namespaces: newCollection("Namespace", "v1"),
		profiles:   newCollection("TrainingProfile", "synergy.io/v1alpha1"),
		ranges:     newCollection("LimitRange", "v1"),
		quotas:     newCollection("ResourceQuota", "v1"),
	}
	s.version = 10_000_000
	s.namespaces.load(fixture.Namespace, fixture.ListedNamespace())
	profile := fixture.Profile()
	s.profiles.load(profile.Namespace+"/"+profile.Name, profile)
	for node := range nodeCount {
		s.nodes.load(fixture.NodeName(node), fixture.ListedNode(node))
		for pod, last := fixture.PodsOn(node); pod < last; pod++ {
			object := fixture.BoundPod(pod)
			s.pods.load(object.Namespace+"/"+object.Name, object)
		}
		for i := range servicesPerNode {
			object := fixture.ServicePod(node*servicesPerNode+i, node)
			s.pods.load(object.Namespace+"/"+object.Name, object)
		}
	}
	return s
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	for path, objects := range map[string]*collection{
		"/api/v1/nodes": s.nodes, "/api/v1/pods": s.pods, "/apis/policy/v1/poddisruptionbudgets": s.budgets,
		"/api/v1/namespaces": s.namespaces, "/apis/synergy.io/v1alpha1/trainingprofiles": s.profiles,
		"/api/v1/limitranges": s.ranges, "/api/v1/resourcequotas": s.quotas,
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { s.listOrWatch(w, r, objects) })
	}
	mux.HandleFunc("GET /api/v1/nodes/{name}", func(w http.ResponseWriter, r *http.Request) {
		getOne(w, s.nodes, r.PathValue("name"))
	})
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/pods/{name}", func(w http.ResponseWriter, r *http.Request) {
		getOne(w, s.pods, r.PathValue("namespace")+"/"+r.PathValue("name"))
	})
	mux.HandleFunc("POST /api/v1/namespaces/{namespace}/pods", s.create)
	mux.HandleFunc("POST /api/v1/namespaces/{namespace}/pods/{name}/binding", s.bind)
	mux.HandleFunc("PATCH /apis/synergy.io/v1alpha1/namespaces/{namespace}/trainingprofiles/{name}/status", acceptEvent)
	// Events are accepted and dropped, because no client watches them.
	mux.HandleFunc("POST /api/v1/namespaces/{namespace}/events", acceptEvent)
	mux.HandleFunc("POST /apis/events.k8s.io/v1/namespaces/{namespace}/events", acceptEvent)
	mux.HandleFunc("PUT /stub/events/{rate}", s.setChurn)
	mux.HandleFunc("POST /stub/relist", s.relist)
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, []byte(`{"major":"1","minor":"35","gitVersion":"v1.35.4"}`))
	})
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "NotFound", r.Method+" "+r.URL.Path+" is not served here")
	})
	return mux
}

func writeJSON(w http.ResponseWriter, code int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	_, _ = w.Write(body)
}

func refuse(w http.ResponseWriter, code int, reason, message string) {
	body, _ := json.Marshal(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": struct{}{}, "status": "Failure", "reason": reason, "message": message, "code": code,
	})
	writeJSON(w, code, body)
}

func getOne(w http.ResponseWriter, objects *collection, key string) {
	writeOne(w, http.StatusOK, objects, key)
}

func writeOne(w http.ResponseWriter, code int, objects *collection, key string) {
	object, found := objects.get(key)
	if !found {
		refuse(w, http.StatusNotFound, "NotFound", key+" not found")
		return
	}
	writeJSON(w, code, withKind(object, objects.kind, objects.apiVersion))
}

func acceptEvent(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	writeJSON(w, http.StatusCreated, body)
}

func (s *server) create(w http.ResponseWriter, r *http.Request) {
	pod := &v1.Pod{}
	if err := json.NewDecoder(r.Body).Decode(pod); err != nil {
		refuse(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	pod.Namespace = r.PathValue("namespace")
	key := pod.Namespace + "/" + pod.Name
	if _, found := s.pods.get(key); found {
		refuse(w, http.StatusConflict, "AlreadyExists", key+" already exists")
		return
	}
	s.store(pod, "ADDED")
	writeOne(w, http.StatusCreated, s.pods, key)
}

func (s *server) bind(w http.ResponseWriter, r *http.Request) {
	binding := &v1.Binding{}
	if err := json.NewDecoder(r.Body).Decode(binding); err != nil {
		refuse(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	key := r.PathValue("namespace") + "/" + r.PathValue("name")
	encoded, found := s.pods.get(key)
	pod := &v1.Pod{}
	switch {
	case !found:
		refuse(w, http.StatusNotFound, "NotFound", key+" not found")
		return
	case json.Unmarshal(encoded, pod) != nil:
		refuse(w, http.StatusInternalServerError, "InternalError", key+" is not a pod")
		return
	case binding.UID != "" && binding.UID != pod.UID:
		refuse(w, http.StatusConflict, "Conflict", key+" has another UID")
		return
	case pod.Spec.NodeName != "":
		refuse(w, http.StatusConflict, "Conflict", key+" is already assigned to "+pod.Spec.NodeName)
		return
	}
	pod.Spec.NodeName = binding.Target.Name
	s.store(pod, "MODIFIED")
	writeJSON(w, http.StatusCreated, []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}`))
}

func (s *server) store(pod *v1.Pod, change string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.version++
	pod.TypeMeta.Kind, pod.TypeMeta.APIVersion = "", ""
	pod.ResourceVersion = strconv.FormatInt(s.version, 10)
	encoded, err := json.Marshal(pod)
	if err != nil {
		panic(err)
	}
	s.pods.put(pod.Namespace+"/"+pod.Name, change, s.version, encoded)
}

func (s *server) current() int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.version
}
