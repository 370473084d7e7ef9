package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/cellmode/cellmode/toolcatalog"
)

// State is the state of a job.
type State string

// Job is what a list tells of a job.
type Job struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	State State  `json:"state" jsonschema:"enum=running,enum=done,enum=failed"`
}

// Details is all that is known of a job.
type Details struct {
	Job
	Runs      int    `json:"runs"`
	LastError string `json:"lastError,omitempty"`
}

type scheduler struct {
	mu   sync.Mutex
	jobs []Details
}

func newScheduler() *scheduler {
	return &scheduler{jobs: []Details{
		{Job{1, "nightly backup", "failed"}, 30, "connection reset"},
		{Job{2, "send invoices", "done"}, 12, ""},
		{Job{3, "import prices", "failed"}, 7, "column \"net\" is missing"},
		{Job{4, "rotate logs", "failed"}, 90, "connection reset"},
		{Job{5, "crawl", "running"}, 1, ""},
	}}
}

// The inputs and results of the actions. The contracts are made of these types.
type (
	listInput struct {
		State State `json:"state,omitempty" jsonschema:"enum=running,enum=done,enum=failed" jsonschema_description:"Only jobs in this state."`
	}
	listResult struct {
		Jobs []Job `json:"jobs"`
	}
	getInput struct {
		ID int `json:"id"`
	}
	restartInput struct {
		IDs []int `json:"ids" jsonschema_description:"Jobs that failed."`
	}
	restartResult struct {
		Count int `json:"count"`
	}
	addInput struct {
		Name string `json:"name" jsonschema:"minLength=1"`
	}
)

// tool is the one tool with four actions: a function for each, and nothing else.
func (s *scheduler) tool() *toolcatalog.Tool {
	return toolcatalog.DefineActions(
		toolcatalog.Spec{
			Name: "scheduler", Description: "Jobs of the scheduler.",
			Examples: []any{map[string]any{"action": "list", "state": "failed"}, map[string]any{"action": "restart", "ids": []int{7}}},
		},
		"action",
		toolcatalog.On("list", s.list),
		toolcatalog.On("get", s.get),
		toolcatalog.On("restart", s.restart),
		toolcatalog.On("add", s.add),
	)
}

func (s *scheduler) list(_ context.Context, in listInput) (listResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	result := listResult{}
	for _, job := range s.jobs {
		if in.State == "" || job.State == in.State {
			result.Jobs = append(result.Jobs, job.Job)
		}
	}
	return result, nil
}

func (s *scheduler) get(_ context.Context, in getInput) (Details, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	job, err := s.find(in.ID)
	if err != nil {
		return Details{}, err
	}
	return *job, nil
}

// restart starts all of the jobs or none.
func (s *scheduler) restart(_ context.Context, in restartInput) (restartResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range in.IDs {
		if job, err := s.find(id); err != nil {
			return restartResult{}, err
		} else if job.State != "failed" {
			return restartResult{}, toolcatalog.InvalidInput(fmt.Errorf("job %d is %s; only failed jobs can be restarted", id, job.State))
		}
	}
	for _, id := range in.IDs {
		job, _ := s.find(id)
		job.State, job.LastError = "running", ""
		job.Runs++
	}
	return restartResult{len(in.IDs)}, nil
}

func (s *scheduler) add(_ context.Context, in addInput) (Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	job := Job{len(s.jobs) + 1, in.Name, "running"}
	s.jobs = append(s.jobs, Details{Job: job, Runs: 1})
	return job, nil
}

func (s *scheduler) find(id int) (*Details, error) {
	if id < 1 || id > len(s.jobs) {
		return nil, toolcatalog.InvalidInput(fmt.Errorf("there is no job %d; action list gives all", id))
	}
	return &s.jobs[id-1], nil
}
