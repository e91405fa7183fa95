"""Our policies and those of other libraries on real files, as ``appletaste replay`` plays them."""
