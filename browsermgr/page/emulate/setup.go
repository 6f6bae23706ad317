package emulate

import (
	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

// setUpRequests sets up a new frame for what differs from the browser's own ways.
func (w *contextSettings) setUpRequests(main bool) []proto.Request {
	var reqs []proto.Request
	if w.offline {
		reqs = append(reqs, networkConditions(true))
	}
	if len(w.headers) > 0 {
		reqs = append(reqs, extraHeaders(w.headers))
	}
	if w.credentials != nil {
		reqs = append(reqs, interceptRequest(true))
	}
	if main && w.geolocation != nil {
		reqs = append(reqs, w.geolocation.request())
	}
	return reqs
}

// setUpRequests sets up a new frame of the tab.
func (o *tabSettings) setUpRequests(main bool) []proto.Request {
	var reqs []proto.Request
	if o.scheme != "" {
		reqs = append(reqs, colorScheme(o.scheme))
	}
	if o.timezone != "" {
		reqs = append(reqs, proto.EmulationSetTimezoneOverride{TimezoneID: o.timezone})
	}
	if o.locale != "" {
		reqs = append(reqs, proto.EmulationSetLocaleOverride{Locale: o.locale})
	}
	if o.locale != "" || o.agent != nil {
		reqs = append(reqs, o.userAgentRequest())
	}
	if o.device != nil {
		reqs = append(reqs, o.touchRequest())
	}
	if main && (o.device != nil || o.size != nil) {
		reqs = append(reqs, o.metricsRequest())
	}
	return reqs
}

func networkConditions(offline bool) proto.Request {
	return proto.NetworkEmulateNetworkConditions{Offline: offline, DownloadThroughput: -1, UploadThroughput: -1}
}

func extraHeaders(headers map[string]string) proto.Request {
	values := proto.NetworkHeaders{}
	for name, value := range headers {
		values[name] = gson.New(value)
	}
	return proto.NetworkSetExtraHTTPHeaders{Headers: values}
}

// interceptRequest has every request pass by: Chromium tells of challenges only for requests that it intercepts.
func interceptRequest(challenges bool) proto.Request {
	return proto.FetchEnable{Patterns: []*proto.FetchRequestPattern{{URLPattern: "*"}}, HandleAuthRequests: challenges}
}

func colorScheme(scheme string) proto.Request {
	if scheme == "" {
		return proto.EmulationSetEmulatedMedia{}
	}
	return proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
}

// userAgentRequest returns the user agent of the device and the languages of the locale. Where one is missing the browser's own stays.
func (o *tabSettings) userAgentRequest() proto.Request {
	req := proto.EmulationSetUserAgentOverride{AcceptLanguage: o.locale}
	if o.agent != nil {
		req.UserAgent, req.Platform, req.UserAgentMetadata = o.agent.text, o.agent.platform, o.agent.hints
	}
	return req
}

func (o *tabSettings) touchRequest() proto.Request {
	if o.device == nil || !o.device.Touch {
		return proto.EmulationSetTouchEmulationEnabled{}
	}
	points := 5
	return proto.EmulationSetTouchEmulationEnabled{Enabled: true, MaxTouchPoints: &points}
}

// metricsRequest returns the geometry of the device, with the viewport of its own if the tab was given one.
func (o *tabSettings) metricsRequest() proto.Request {
	if o.device == nil && o.size == nil {
		return proto.EmulationClearDeviceMetricsOverride{}
	}
	var req proto.EmulationSetDeviceMetricsOverride
	if d := o.device; d != nil {
		req = proto.EmulationSetDeviceMetricsOverride{
			Width: d.Width, Height: d.Height, DeviceScaleFactor: d.Scale, Mobile: d.Mobile,
			ScreenWidth: &d.ScreenWidth, ScreenHeight: &d.ScreenHeight, ScreenOrientation: d.orientation(),
		}
	}
	if o.size != nil {
		req.Width, req.Height = o.size.width, o.size.height
	}
	return req
}
