package browsermgr

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

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

type graphics struct{ read atomic.Pointer[Graphics] }

// readGraphics asks once. A browser that does not tell has none.
func (b *browser) readGraphics() {
	const limit = 10 * time.Second
	var info proto.SystemInfoGetInfoResult
	if err := b.conn.Root().BeginWithin(limit, proto.SystemInfoGetInfo{}).Wait(context.Background(), &info); err != nil || info.Gpu == nil {
		b.manager.Logger.Debug("browser does not tell its graphics", "error", err)
		return
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
	g.Acceleration = acceleration(g.Renderer, g.FeatureStatus["gpu_compositing"])
	b.graphics.read.Store(g)
}

// acceleration judges by the renderer's name and by what Chromium says of its compositor.
func acceleration(renderer, compositing string) string {
	renderer = strings.ToLower(renderer)
	for _, software := range []string{"swiftshader", "llvmpipe", "softpipe", "software"} {
		if strings.Contains(renderer, software) {
			return "software"
		}
	}
	switch {
	case strings.HasPrefix(compositing, "enabled"):
		return "hardware"
	case strings.HasPrefix(compositing, "disabled"):
		return "software"
	default:
		return "unknown"
	}
}
