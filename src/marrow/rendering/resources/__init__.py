"""What passes read and write in GPU memory: geometry, materials, textures, targets, pipelines, shader text."""
