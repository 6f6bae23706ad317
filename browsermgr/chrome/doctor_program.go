package chrome

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// openProgram opens the ELF file of a program. Many packages install a script instead, and the program in a directory
// of the same name.
func openProgram(path string) (*elf.File, string) {
	candidates := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		candidates = append(candidates, real)
	}
	name := filepath.Base(path)
	if prefix, ok := strings.CutSuffix(path, "/usr/bin/"+name); ok {
		candidates = append(candidates, prefix+"/usr/lib/"+name+"/"+name, prefix+"/usr/lib64/"+name+"/"+name)
	}
	candidates = append(candidates, filepath.Join(filepath.Dir(candidates[len(candidates)-1]), "chrome"))
	for _, candidate := range candidates {
		if file, err := elf.Open(candidate); err == nil {
			return file, candidate
		}
	}
	return nil, ""
}

// programArch returns the architecture a program is built for, as in runtime.GOARCH; "" if unknown.
func programArch(path string) string {
	file, _ := openProgram(path)
	if file == nil {
		return ""
	}
	defer file.Close()
	return map[elf.Machine]string{
		elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386", elf.EM_ARM: "arm", elf.EM_RISCV: "riscv64",
	}[file.Machine]
}

// libraries checks that the program's shared libraries exist where the dynamic linker would look.
func (m Machine) libraries(program string) Check {
	c := Check{ID: "libraries", Label: "Shared libraries", Status: CheckPass, Summary: "all that the browser names " +
		"are there"}
	file, path := openProgram(m.path(program))
	if file == nil {
		c.Status, c.Summary = CheckInfo, "not looked at: "+program+" is a script"
		return c
	}
	defer file.Close()
	needed, err := file.ImportedLibraries()
	if err != nil {
		c.Status, c.Summary = CheckInfo, fmt.Sprintf("not looked at: %v", err)
		return c
	}
	dirs := append([]string{filepath.Dir(path)}, m.libraryDirs()...)
	missing := slices.DeleteFunc(needed, func(name string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool {
			_, err := os.Stat(filepath.Join(dir, name))
			return err == nil
		})
	})
	if len(missing) > 0 {
		c.Status, c.Summary = CheckFail, "missing: "+strings.Join(missing, ", ")
		c.FixHint = "install the browser with your package manager, which brings them along; on Debian: apt-get install " +
			"chromium"
	}
	return c
}

// libraryDirs returns the directories of the dynamic linker (ld.so(8)): the default ones and the configured ones.
func (m Machine) libraryDirs() []string {
	var dirs []string
	for _, pattern := range []string{
		"/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib", "/lib/*-linux-*",
		"/usr/lib/*-linux-*",
	} {
		if found, err := filepath.Glob(m.path(pattern)); err == nil {
			dirs = append(dirs, found...)
		}
	}
	files, err := filepath.Glob(m.path("/etc/ld.so.conf.d/*.conf"))
	if err != nil {
		return dirs
	}
	for _, file := range append(files, m.path("/etc/ld.so.conf")) {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "/") {
				dirs = append(dirs, m.path(line))
			}
		}
	}
	return dirs
}

// CheckStatus is the outcome of a check.
type CheckStatus string

// Values of CheckStatus. Only Fail means that something does not work.
const (
	CheckPass CheckStatus = "pass"
	CheckWarn CheckStatus = "warn"
	CheckFail CheckStatus = "fail"
	CheckInfo CheckStatus = "info"
)

// Check is the result of one check.
type Check struct {
	ID      string      `json:"id"`
	Label   string      `json:"label"`
	Status  CheckStatus `json:"status"`
	Summary string      `json:"summary"`
	FixHint string      `json:"fixHint,omitempty"`
}

// NoCheckFailed reports whether no check has the status Fail.
func NoCheckFailed(checks []Check) bool {
	return !slices.ContainsFunc(checks, func(c Check) bool { return c.Status == CheckFail })
}
