/** Names as they are shown. */

/** Text from a file without what would break a line in its middle (U+2028 and its like) or be no sign at all: spaces stand there. */
export function inLine(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g, " ");
}

/**
 * What all names begin with, up to a separator: `Armature|` of `Armature|Walk` and `Armature|Run`. Empty where that would leave
 * nothing of one of them, or where there is only one name and no bar in it.
 */
export function commonPrefix(names: string[]): string {
  if (!names.length) return "";
  let prefix = names[0];
  for (const name of names) while (!name.startsWith(prefix)) prefix = prefix.slice(0, -1);
  // One name alone: what stands before a bar is the rig it was exported with.
  const separators = names.length > 1 ? /[|:_\-. /@]/ : /[|]/;
  let end = prefix.length;
  while (end > 0 && !separators.test(prefix[end - 1])) end--;
  prefix = prefix.slice(0, end);
  // A word that half the alphabet of clips shares says little; one letter or two may be a part of the names.
  return prefix.length >= 3 && names.every((name) => name.length > prefix.length) ? prefix : "";
}
