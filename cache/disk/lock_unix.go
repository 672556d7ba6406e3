//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// folderLock keeps other processes out of the folder. The file's own lock would
// not do: it goes with the file when a damaged one is moved aside. It ends with
// the process, however that ends.
type folderLock struct{ file *os.File }

func lockFolder(folder string) (*folderLock, error) {
	f, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("disk: opening the folder's lock: %w", err)
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		holder := make([]byte, 20)
		n, _ := f.ReadAt(holder, 0)
		_ = f.Close()
		return nil, inUse(folder, string(holder[:n]))
	case err != nil:
		_ = f.Close()
		return nil, fmt.Errorf("disk: locking the folder %s: %w", folder, err)
	}
	// Who holds it is for the error above. It does not matter if that is lost.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	}
	return &folderLock{f}, nil
}

func (l *folderLock) release() { _ = l.file.Close() }
