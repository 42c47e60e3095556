/** What was dropped or chosen: files, with the folders they came in. */

export interface Named {
  /** The file's name, with its folders where it was dropped with them. */
  name: string;
  file: File;
}

/** More than anybody drops on purpose; the server has a limit of its own. */
const MOST = 2000;

export function chosenFiles(input: HTMLInputElement): Named[] {
  return [...(input.files ?? [])].map((file) => ({ name: file.webkitRelativePath || file.name, file }));
}

/** The files of a drop, those in dropped folders too. What was dropped must be taken before anything is waited for. */
export async function droppedFiles(transfer: DataTransfer): Promise<Named[]> {
  const plain = [...transfer.files];
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (!entries.some((entry) => entry?.isDirectory)) return plain.map((file) => ({ name: file.name, file }));
  const found: Named[] = [];
  for (const entry of entries) if (entry) await walk(entry, "", found);
  return found;
}

async function walk(entry: FileSystemEntry, folder: string, found: Named[]): Promise<void> {
  if (found.length >= MOST) return;
  const name = folder ? `${folder}/${entry.name}` : entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ name, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader hands out a part at a time, and nothing when it is done.
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return;
    for (const inner of part) await walk(inner, name, found);
  }
}
