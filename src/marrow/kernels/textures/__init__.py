"""Compressed textures to pixels: blocks of BC1 to BC7, ETC2, ASTC and Basis Universal."""
