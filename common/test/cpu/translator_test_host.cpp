// A file that is no .cu and calls into one.
void from_another_file(int* p);
void call_from_cpp(int* p) { from_another_file(p); }
