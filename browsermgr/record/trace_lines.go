package record

import "encoding/json"

// formatVersion is that of the lines below, as the viewer counts.
const formatVersion = 10

// The lines of trace.trace, named as the viewer names them. Times are milliseconds since a moment before the trace began,
// wall times since 1970.
type (
	contextOptions struct {
		Version       int            `json:"version"`
		Type          string         `json:"type"` // context-options
		Origin        string         `json:"origin"`
		BrowserName   string         `json:"browserName"`
		Platform      string         `json:"platform"`
		WallTime      float64        `json:"wallTime"`
		MonotonicTime float64        `json:"monotonicTime"`
		SDKLanguage   string         `json:"sdkLanguage"`
		Title         string         `json:"title"`
		Options       map[string]any `json:"options"`
	}
	beforeLine struct {
		Type      string          `json:"type"` // before
		CallID    string          `json:"callId"`
		StartTime float64         `json:"startTime"`
		Title     string          `json:"title"`
		Class     string          `json:"class"`
		Method    string          `json:"method"`
		Params    json.RawMessage `json:"params"`
		PageID    string          `json:"pageId"`
	}
	afterLine struct {
		Type    string     `json:"type"` // after
		CallID  string     `json:"callId"`
		EndTime float64    `json:"endTime"`
		Error   *errorText `json:"error,omitempty"`
	}
	errorText struct {
		Name    string `json:"name,omitempty"`
		Message string `json:"message"`
		Stack   string `json:"stack,omitempty"`
	}
	logLine struct {
		Type    string  `json:"type"` // log
		CallID  string  `json:"callId"`
		Time    float64 `json:"time"`
		Message string  `json:"message"`
	}
	noteLine struct {
		Type      string  `json:"type"` // stderr
		Timestamp float64 `json:"timestamp"`
		Text      string  `json:"text"`
	}
	eventLine struct {
		Type   string         `json:"type"` // event
		Time   float64        `json:"time"`
		Class  string         `json:"class"`
		Method string         `json:"method"`
		Params map[string]any `json:"params"`
		PageID string         `json:"pageId"`
	}
	consoleLine struct {
		Type        string   `json:"type"` // console
		MessageType string   `json:"messageType"`
		Text        string   `json:"text"`
		Args        []string `json:"args"`
		Location    any      `json:"location"`
		Time        float64  `json:"time"`
		PageID      string   `json:"pageId"`
	}
	frameLine struct {
		Type              string  `json:"type"` // screencast-frame
		PageID            string  `json:"pageId"`
		File              string  `json:"file"`
		Width             float64 `json:"width"`
		Height            float64 `json:"height"`
		Timestamp         float64 `json:"timestamp"`
		FrameSwapWallTime float64 `json:"frameSwapWallTime"`
	}
	snapshotLine struct {
		Type     string       `json:"type"` // frame-snapshot
		Snapshot snapshotData `json:"snapshot"`
	}
	snapshotData struct {
		CallID            string          `json:"callId"`
		Phase             string          `json:"phase"` // before or after
		PageID            string          `json:"pageId"`
		FrameID           string          `json:"frameId"`
		FrameURL          string          `json:"frameUrl"`
		Doctype           string          `json:"doctype,omitempty"`
		HTML              json.RawMessage `json:"html"`
		Viewport          sizeData        `json:"viewport"`
		Timestamp         float64         `json:"timestamp"`
		WallTime          float64         `json:"wallTime"`
		CollectionTime    float64         `json:"collectionTime"`
		ResourceOverrides []string        `json:"resourceOverrides"`
		IsMainFrame       bool            `json:"isMainFrame"`
	}
	sizeData struct {
		Width  float64 `json:"width"`
		Height float64 `json:"height"`
	}
)

// The lines of trace.network.
type (
	resourceLine struct {
		Type     string       `json:"type"` // resource-snapshot
		Snapshot resourceData `json:"snapshot"`
	}
	resourceData struct {
		HAREntry
		FrameRef      string  `json:"_frameref,omitempty"`
		MonotonicTime float64 `json:"_monotonicTime"`
	}
)
