package profile_test

import (
	"testing"

	"clank/browsermgr/profile"
)

func TestAccelerationIsJudgedByRendererAndCompositor(t *testing.T) {
	for _, tc := range []struct{ renderer, compositing, want string }{
		{"ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device))", "enabled", "software"},
		{"llvmpipe (LLVM 19)", "", "software"},
		{"ANGLE (Intel, Mesa Intel(R) UHD Graphics)", "enabled", "hardware"},
		{"", "enabled_readback", "hardware"},
		{"", "disabled_software", "software"},
		{"", "", "unknown"},
	} {
		if got := profile.DetectAcceleration(tc.renderer, tc.compositing); got != tc.want {
			t.Errorf("%q, %q: %s, want %s", tc.renderer, tc.compositing, got, tc.want)
		}
	}
}
