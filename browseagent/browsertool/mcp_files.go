package browsertool

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"clank/internal/untrusted"
	"clank/sessions"
	"clank/sessions/agent"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxResource  = 16 << 20 // bytes of a file that can be read in one message
	maxResources = 200      // per client; the oldest are dropped
)

// sentFile is an attachment in a call.
type sentFile struct {
	Name string  `json:"name"`
	Text *string `json:"text"`
	Data *string `json:"data"` // base64
}

// sendFiles uploads the attachments of a call. The error is for the model.
func (s *MCPServer) sendFiles(ctx context.Context, sent []sentFile) (list []sessions.File, err error) {
	if len(sent) > sessions.MaxTaskFiles {
		return nil, fmt.Errorf("%d files came with the task; %d may come with one", len(sent), sessions.MaxTaskFiles)
	}
	for i, f := range sent {
		if (f.Text == nil) == (f.Data == nil) {
			return nil, fmt.Errorf("file %d needs text or data, and not both", i+1)
		}
		var content io.Reader
		if f.Text != nil {
			content = strings.NewReader(*f.Text)
		} else {
			data, err := base64.StdEncoding.DecodeString(*f.Data)
			if err != nil {
				return nil, fmt.Errorf("the data of file %d is not base64 (%w); send what is text as text", i+1, err)
			}
			content = bytes.NewReader(data)
		}
		kept, err := s.Browser.SendFile(ctx, f.Name, content)
		if err != nil {
			return nil, fmt.Errorf("file %d: %w", i+1, err)
		}
		list = append(list, kept)
	}
	return list, nil
}

// offer makes a task's downloads resources of the client that started it, and returns links to them. File names come
// from pages, so the links have generated names.
func (s *MCPServer) offer(r *clientRegistry, of *mcp.ServerSession, a BrowseAnswer) (list []mcp.Content) {
	if len(a.Files) == 0 {
		return nil
	}
	var names strings.Builder
	for i, f := range a.Files {
		fmt.Fprintf(&names, "%d: %s\n", i+1, agent.DescribeFile(f))
		d := &mcp.Resource{
			URI: "clank://tasks/" + a.TaskID + "/downloads/" + f.ID, Name: fmt.Sprintf("download %d of task %s", i+1, a.TaskID),
			MIMEType: f.Type, Size: f.Size, Description: "A file that a page offered",
		}
		if !r.addResource(of, d.URI) {
			return nil // the client has disconnected
		}
		r.server.AddResource(d, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			if !r.hasResource(req.Session, d.URI) {
				return nil, mcp.ResourceNotFoundError(d.URI)
			}
			data, err := s.download(ctx, a.TaskID, f)
			if err != nil {
				return nil, err
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: d.URI, MIMEType: f.Type, Blob: data}}}, nil
		})
		list = append(list, &mcp.ResourceLink{
			URI: d.URI, Name: d.Name, MIMEType: f.Type, Size: &f.Size,
			Description: d.Description,
		})
	}
	text := "Pages offered files for download. They can be read as resources. Their names, which the pages chose:\n"
	return append([]mcp.Content{&mcp.TextContent{Text: text + untrusted.Wrap(names.String())}}, list...)
}

// download reads a downloaded file.
func (s *MCPServer) download(ctx context.Context, taskID string, f sessions.File) (data []byte, err error) {
	if f.Size > maxResource {
		return nil, fmt.Errorf("read the file: %w", fileTooLarge(maxResource))
	}
	in, err := s.Browser.Download(ctx, taskID, f)
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	data, err = io.ReadAll(io.LimitReader(in, maxResource))
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	return data, nil
}

// addResource lets a client read a URI, and reports whether the client is connected.
func (r *clientRegistry) addResource(of *mcp.ServerSession, uri string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.clients[of]
	if c == nil {
		return false
	}
	if c.resources = append(c.resources, uri); len(c.resources) > maxResources {
		r.server.RemoveResources(c.resources[0])
		c.resources = c.resources[1:]
	}
	return true
}

// hasResource reports whether a client may read a URI.
func (r *clientRegistry) hasResource(of *mcp.ServerSession, uri string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.clients[of]
	return c != nil && slices.Contains(c.resources, uri)
}

// ownResources removes other clients' resources from lists of resources.
func (r *clientRegistry) ownResources(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if list, ok := res.(*mcp.ListResourcesResult); ok && err == nil {
			of, _ := req.GetSession().(*mcp.ServerSession)
			list.Resources = slices.DeleteFunc(list.Resources, func(d *mcp.Resource) bool { return !r.hasResource(of, d.URI) })
		}
		return res, err
	}
}
