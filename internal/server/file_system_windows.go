package server

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// sharedFileSystem returns the drive or share that holds dir if it is on another machine; "" for a local one.
func sharedFileSystem(dir string) string {
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	volume := filepath.VolumeName(dir)
	root, err := windows.UTF16PtrFromString(volume + `\`)
	if err != nil || windows.GetDriveType(root) != windows.DRIVE_REMOTE {
		return ""
	}
	return volume
}
