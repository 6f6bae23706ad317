package hardening

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// inherited are the variables that other programs need: user and home, locale, the desktop, and system paths. They
// include no keys, tokens or proxies, which may contain a password, and no variables for developers such as
// SSLKEYLOGFILE.
var inherited = []string{
	"HOME", "USER", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LD_LIBRARY_PATH",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS",
	"PULSE_SERVER", "PULSE_COOKIE", "PIPEWIRE_REMOTE", "CHROME_DEVEL_SANDBOX", "FONTCONFIG_FILE", "FONTCONFIG_PATH",
	"USERNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC",
	"PATHEXT",
	"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMDATA", "ESPEAK_DATA_PATH", "LIBVA_DRIVER_NAME", "LIBGL_ALWAYS_SOFTWARE",
	"VK_ICD_FILENAMES",
}

// Environ returns the environment for a program that clank starts: the parts of this process's environment that it
// needs.
func Environ() []string { return Inheritable(os.Environ()) }

// Inheritable returns the variables that are passed on to other programs.
func Inheritable(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		if runtime.GOOS == "windows" { // variable names are not case-sensitive there
			key = strings.ToUpper(key)
		}
		return !slices.Contains(inherited, key) && !strings.HasPrefix(key, "LC_") && !strings.HasPrefix(key, "XDG_")
	})
}
