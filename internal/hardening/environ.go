package hardening

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// inherited are the variables that other programs need: who and where one is, language, the desktop, and where the
// system's own parts lie. Keys, tokens and proxies, which may hold a password, are not among them, and neither is what
// only developers set, such as SSLKEYLOGFILE.
var inherited = []string{
	"HOME", "USER", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LD_LIBRARY_PATH",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS",
	"PULSE_SERVER", "PULSE_COOKIE", "PIPEWIRE_REMOTE", "CHROME_DEVEL_SANDBOX", "FONTCONFIG_FILE", "FONTCONFIG_PATH",
	"USERNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT",
	"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMDATA", "ESPEAK_DATA_PATH", "LIBVA_DRIVER_NAME", "LIBGL_ALWAYS_SOFTWARE", "VK_ICD_FILENAMES",
}

// Environ returns the environment of a program that is started here: of this program's own, what such a program needs
// to run.
func Environ() []string { return Inheritable(os.Environ()) }

// Inheritable returns those of the variables that another program gets.
func Inheritable(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		if runtime.GOOS == "windows" { // where it is Path
			key = strings.ToUpper(key)
		}
		return !slices.Contains(inherited, key) && !strings.HasPrefix(key, "LC_") && !strings.HasPrefix(key, "XDG_")
	})
}
