package profile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// Graphics is what a browser draws with (CDP SystemInfo.getInfo). It is read once for each browser.
type Graphics struct {
	Renderer      string            `json:"renderer"`
	Backend       string            `json:"backend"`
	Acceleration  string            `json:"acceleration"` // hardware, software or unknown
	Devices       []string          `json:"devices"`
	FeatureStatus map[string]string `json:"featureStatus"`
	VideoDecoding []string          `json:"videoDecoding"` // profiles with hardware decoding
	VideoEncoding []string          `json:"videoEncoding"`
}

// graphicsTimeout bounds the question: Chromium may have to wait for its GPU process.
const graphicsTimeout = 10 * time.Second

// ReadGraphics asks a browser, over the session of the browser itself.
func ReadGraphics(ctx context.Context, root *cdp.Session) (*Graphics, error) {
	var info proto.SystemInfoGetInfoResult
	if err := root.BeginWithin(graphicsTimeout, proto.SystemInfoGetInfo{}).Wait(ctx, &info); err != nil {
		return nil, fmt.Errorf("read graphics: %w", err)
	}
	if info.Gpu == nil {
		return nil, errors.New("read graphics: the browser does not tell")
	}
	gpu := info.Gpu
	text := func(key string) string {
		value, ok := gpu.AuxAttributes[key]
		if !ok {
			return ""
		}
		return value.Str()
	}
	g := &Graphics{
		Renderer: text("glRenderer"), Backend: text("glImplementationParts"), FeatureStatus: map[string]string{},
		Devices: []string{}, VideoDecoding: []string{}, VideoEncoding: []string{},
	}
	for _, d := range gpu.Devices {
		g.Devices = append(g.Devices, strings.TrimSpace(d.VendorString+" "+d.DeviceString))
	}
	for name, status := range gpu.FeatureStatus {
		g.FeatureStatus[name] = status.Str()
	}
	for _, c := range gpu.VideoDecoding {
		g.VideoDecoding = append(g.VideoDecoding, c.Profile)
	}
	for _, c := range gpu.VideoEncoding {
		g.VideoEncoding = append(g.VideoEncoding, c.Profile)
	}
	g.Acceleration = detectAcceleration(g.Renderer, g.FeatureStatus["gpu_compositing"])
	return g, nil
}

// detectAcceleration judges by the renderer's name and by what Chromium says of its compositor.
func detectAcceleration(renderer, compositing string) string {
	renderer = strings.ToLower(renderer)
	software := []string{"swiftshader", "llvmpipe", "softpipe", "software"}
	switch {
	case slices.ContainsFunc(software, func(name string) bool { return strings.Contains(renderer, name) }):
		return "software"
	case strings.HasPrefix(compositing, "enabled"):
		return "hardware"
	case strings.HasPrefix(compositing, "disabled"):
		return "software"
	default:
		return "unknown"
	}
}
