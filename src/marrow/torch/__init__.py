from marrow.torch.skinning import skin
