package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// commandOutput is what a command printed, and the code with which it ended.
type commandOutput struct {
	Stdout, Stderr string
	Code           int
}

// Command runs "clank browser" with arguments, beside the server, with input at its standard input.
func (s *controlSuite) Command(ctx context.Context, input string, args ...string) (commandOutput, error) {
	cmd := exec.CommandContext(ctx, s.Bin, append([]string{"browser"}, args...)...)
	cmd.Env = s.Environ()
	cmd.Stdin = strings.NewReader(input)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	err := cmd.Run()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && ctx.Err() == nil {
		err = nil
	}
	if err != nil {
		return commandOutput{}, fmt.Errorf("clank browser %s: %w", strings.Join(args, " "), err)
	}
	return commandOutput{Stdout: out.String(), Stderr: talk.String(), Code: cmd.ProcessState.ExitCode()}, nil
}

// retried is the case tried again for as long as it may take: for what a loaded machine may be too slow for at first, and a page
// that is opened anew makes good.
func (c testCase) retried() testCase {
	return testCase{Name: c.Name, Run: func(ctx context.Context, s *controlSuite) error {
		for {
			err := c.Run(ctx, s)
			if err == nil || ctx.Err() != nil {
				return err
			}
			if end, ok := ctx.Deadline(); ok && time.Until(end) < caseLimit/2 {
				return err
			}
		}
	}}
}
